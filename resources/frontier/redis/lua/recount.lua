#!lua flags=no-writes
-- ARGV: where to go on, how many buckets. Returns where to go on ('' at the end), rows by state.
--@include domain.lua
local h = tonumber(ARGV[1])
local numbers = { [0] = 0, 0, 0, 0, 0 }
for _ = 1, tonumber(ARGV[2]) do
  if h >= SPACE then break end
  local start, width = range_of(h)
  for _, value in ipairs(redis.call('HVALS', bucket_at(start))) do
    local state = string.byte(value, 5)
    numbers[state] = numbers[state] + 1
  end
  h = start + width
end
local where = h < SPACE and string.format('%.0f', h) or ''
return { where, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] }
