#!lua flags=allow-oom
-- ARGV: cause, latest instant of eligibility ('+inf': all), how many. Returns how many became PENDING.
--@include domain.lua
--@include record.lua
--@include queue.lua
local set = base .. 'f:' .. ARGV[1]
local keys = redis.call('ZRANGE', set, '-inf', ARGV[2], 'BYSCORE', 'LIMIT', 0, ARGV[3])
for _, key in ipairs(keys) do
  local where = bucket(key)
  local record = decode(redis.call('HGET', where, key))
  delist(key, record)
  record.failed_at, record.eligible = nil, nil
  move(where, key, record, PENDING, nil)
end
if redis.call('EXISTS', set) == 0 then redis.call('SREM', base .. 'fc', ARGV[1]) end
write_queue()
write_counts()
return #keys
