#!lua flags=no-writes
-- Returns cause, FAILED with it, those of them that have an instant of eligibility; for each cause.
local base = string.sub(KEYS[1], 1, -2)
local found = {}
for _, cause in ipairs(redis.call('SMEMBERS', base .. 'fc')) do
  local set = base .. 'f:' .. cause
  found[#found + 1] = cause
  found[#found + 1] = redis.call('ZCARD', set)
  found[#found + 1] = redis.call('ZCOUNT', set, '-inf', '(+inf')
end
return found
