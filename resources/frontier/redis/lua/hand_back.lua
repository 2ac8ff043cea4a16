#!lua flags=allow-oom
-- ARGV: 'worker', its name, or 'expired', now, or 'call', the first 6 bytes of the tokens of one claim call;
-- then how many at most. Returns how many leases ended.
--@include domain.lua
--@include record.lua
--@include queue.lua
local keys
if ARGV[1] == 'worker' then
  keys = redis.call('SRANDMEMBER', base .. 'w:' .. ARGV[2], ARGV[3])
elseif ARGV[1] == 'call' then
  keys = {}
  local held = redis.call('HGETALL', base .. 'o')
  for i = 1, #held, 2 do
    if string.sub(held[i + 1], 1, 6) == ARGV[2] and #keys < tonumber(ARGV[3]) then keys[#keys + 1] = held[i] end
  end
else
  keys = redis.call('ZRANGE', base .. 'l', '-inf', ARGV[2], 'BYSCORE', 'LIMIT', 0, ARGV[3])
end
for _, key in ipairs(keys) do
  local where = bucket(key)
  unlease(key, redis.call('HGET', base .. 'o', key))
  move(where, key, decode(redis.call('HGET', where, key)), PENDING, nil)
end
write_queue()
write_counts()
return #keys
