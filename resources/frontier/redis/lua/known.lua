#!lua flags=no-writes
-- ARGV: keys. Returns '1' for each that has a record, '0' for each that has none, as one string.
--@include domain.lua
local found = {}
for i, key in ipairs(ARGV) do found[i] = redis.call('HEXISTS', bucket(key), key) end
return table.concat(found)
