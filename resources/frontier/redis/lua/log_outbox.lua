#!lua flags=no-writes
-- KEYS[1]: the domain's hash. ARGV: how many rows. Returns the number of the first row, then the rows.
local base = string.sub(KEYS[1], 1, -2)
local rows = redis.call('LRANGE', base .. 'log', 0, tonumber(ARGV[1]) - 1)
table.insert(rows, 1, redis.call('HGET', KEYS[1], 'log') or '0')
return rows
