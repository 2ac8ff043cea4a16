#!lua flags=allow-oom
-- KEYS[1]: rows. ARGV: domain, the row it was made from ('' none), the new row; for each.
-- Returns the domains whose row was changed by somebody else in between: nothing is written for those.
local refused = {}
for i = 1, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') == ARGV[i + 1] then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  else
    refused[#refused + 1] = ARGV[i]
  end
end
return refused
