#!lua flags=no-writes
-- ARGV: keys. Returns record, owner, end of lease; for each key, '' where there is none.
--@include domain.lua
local found = {}
for _, key in ipairs(ARGV) do
  local held = redis.call('HGET', base .. 'o', key)
  found[#found + 1] = redis.call('HGET', bucket(key), key) or ''
  found[#found + 1] = held and string.sub(held, 9) or ''
  found[#found + 1] = held and redis.call('ZSCORE', base .. 'l', key) or ''
end
return found
