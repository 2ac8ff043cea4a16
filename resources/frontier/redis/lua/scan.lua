#!lua flags=no-writes
-- ARGV: where to go on, how many buckets, bits of the states asked for, how many rows are enough.
-- Returns where to go on ('' at the end), then key, record, owner, end of lease; for each row of whole buckets.
--@include domain.lua
local h, mask, enough = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
local found = { '' }
for _ = 1, tonumber(ARGV[2]) do
  if h >= SPACE or #found > enough * 4 then break end
  local start, width = range_of(h)
  local rows = redis.call('HGETALL', bucket_at(start))
  for i = 1, #rows, 2 do
    local state = string.byte(rows[i + 1], 5)
    if bit.band(mask, bit.lshift(1, state)) ~= 0 then
      local held = state == LEASED and redis.call('HGET', base .. 'o', rows[i])
      found[#found + 1] = rows[i]
      found[#found + 1] = rows[i + 1]
      found[#found + 1] = held and string.sub(held, 9) or ''
      found[#found + 1] = held and redis.call('ZSCORE', base .. 'l', rows[i]) or ''
    end
  end
  h = start + width
end
if h < SPACE then found[1] = string.format('%.0f', h) end
return found
