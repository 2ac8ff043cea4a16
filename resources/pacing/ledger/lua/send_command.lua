#!lua flags=allow-oom
-- KEYS: commands, the last number. ARGV: the command. Returns its number.
local number = redis.call('INCR', KEYS[2])
redis.call('ZADD', KEYS[1], number, number .. ' ' .. ARGV[1])
return number
