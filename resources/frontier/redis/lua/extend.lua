#!lua flags=allow-oom
-- ARGV: worker, new end of its leases. Returns how many it holds here.
local base = string.sub(KEYS[1], 1, -2)
local keys = redis.call('SMEMBERS', base .. 'w:' .. ARGV[1])
for _, key in ipairs(keys) do redis.call('ZADD', base .. 'l', 'XX', ARGV[2], key) end
return #keys
