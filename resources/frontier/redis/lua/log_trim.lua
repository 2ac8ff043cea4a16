#!lua flags=allow-oom
-- KEYS[1]: the domain's hash. ARGV: number of the first row to keep. Returns rows left in the outbox.
local base = string.sub(KEYS[1], 1, -2)
local old = tonumber(ARGV[1]) - tonumber(redis.call('HGET', KEYS[1], 'log') or '0')
if old > 0 then
  redis.call('LTRIM', base .. 'log', old, -1)
  redis.call('HSET', KEYS[1], 'log', ARGV[1])
end
return redis.call('LLEN', base .. 'log')
