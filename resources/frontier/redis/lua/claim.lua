#!lua
-- ARGV: how many, worker, end of the leases, now, the first 6 bytes of their tokens, how many may be unparked.
-- Returns key, token, record; for each claim.
--@include domain.lua
--@include record.lua
--@include queue.lua
local limit, worker, until_, now, prefix = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local parked = redis.call('ZRANGE', base .. 'p', '-inf', now, 'BYSCORE', 'LIMIT', 0, ARGV[6])
for _, key in ipairs(parked) do
  local where = bucket(key)
  local record = decode(redis.call('HGET', where, key))
  redis.call('ZREM', base .. 'p', key)
  record.not_before = nil
  redis.call('HSET', where, key, encode(record))
  queue(record.priority, record.n, key)
end
write_queue()

local claims, taken = {}, 0
while taken < limit do
  local name = redis.call('ZRANGE', base .. 'i', 0, 0)[1]
  if not name then break end
  local keys = redis.call('ZPOPMIN', base .. 'q:' .. name, limit - taken)
  for i = 1, #keys, 2 do
    local key = keys[i]
    local where = bucket(key)
    local value = redis.call('HGET', where, key)
    value = string.sub(value, 1, 4) .. string.char(LEASED) .. string.sub(value, 6)
    redis.call('HSET', where, key, value)
    local token = prefix .. struct.pack('>I2', taken)
    lease(key, worker, token, until_)
    claims[#claims + 1] = key
    claims[#claims + 1] = token
    claims[#claims + 1] = value
    taken = taken + 1
  end
  if redis.call('EXISTS', base .. 'q:' .. name) == 0 then redis.call('ZREM', base .. 'i', name) end
end
count(PENDING, -taken)
count(LEASED, taken)
write_counts()
return claims
