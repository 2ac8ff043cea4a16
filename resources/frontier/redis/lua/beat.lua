#!lua flags=allow-oom
-- KEYS: beats by worker, workers by the time of their last beat. ARGV: worker, beat, now, the oldest to keep.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
for _, worker in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', '(' .. ARGV[4], 'BYSCORE', 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], worker)
  redis.call('ZREM', KEYS[2], worker)
end
return 1
