#!lua
-- KEYS: the log (a stream), rows taken over of each domain (a hash), the last sequence number.
-- ARGV: domain, number of the first row, rows. Returns the number of the row that comes next.
-- Rows that were taken over before are passed by: doing it again changes nothing.
local first = tonumber(ARGV[2])
local next_ = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0')
for i = 3, #ARGV do
  local number = first + i - 3
  if number >= next_ then
    redis.call('XADD', KEYS[1], redis.call('INCR', KEYS[3]) .. '-0', ARGV[1], ARGV[i])
    next_ = number + 1
  end
end
redis.call('HSET', KEYS[2], ARGV[1], next_)
return next_
