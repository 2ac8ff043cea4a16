#!lua flags=allow-oom
-- ARGV: 'worker', its name; or 'expired', now; then how many at most. Returns how many leases ended.
--@include domain.lua
--@include record.lua
--@include queue.lua
local keys
if ARGV[1] == 'worker' then
  keys = redis.call('SRANDMEMBER', base .. 'w:' .. ARGV[2], ARGV[3])
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
