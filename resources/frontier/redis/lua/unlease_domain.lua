#!lua flags=allow-oom
-- KEYS[1]: the lease. ARGV: owner, fence. Returns 1, or 0 when it has passed to somebody else.
local owner, fence = unpack(redis.call('HMGET', KEYS[1], 'owner', 'fence'))
if owner ~= ARGV[1] or fence ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'owner', '', 'until', '0')
return 1
