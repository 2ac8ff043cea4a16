#!lua
-- KEYS[1]: the lease, a hash. ARGV: owner, end, now. Returns fence, or 0 when somebody else holds it.
-- The row outlives the lease, so that the fence never starts again.
local owner, fence, until_ = unpack(redis.call('HMGET', KEYS[1], 'owner', 'fence', 'until'))
if owner and owner ~= ARGV[1] and tonumber(until_) > tonumber(ARGV[3]) then return 0 end
fence = tonumber(fence or '0')
if owner ~= ARGV[1] then fence = fence + 1 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'fence', fence, 'until', ARGV[2])
return fence
