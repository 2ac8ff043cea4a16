#!lua flags=allow-oom
-- ARGV: where to go on, how many buckets. DONE becomes PENDING. Returns how many, where to go on ('' at the end).
--@include domain.lua
--@include record.lua
--@include queue.lua
local h, moved = tonumber(ARGV[1]), 0
for _ = 1, tonumber(ARGV[2]) do
  if h >= SPACE then break end
  local start, width = range_of(h)
  local where = bucket_at(start)
  local rows = redis.call('HGETALL', where)
  for i = 1, #rows, 2 do
    if string.byte(rows[i + 1], 5) == DONE then
      local record = decode(rows[i + 1])
      record.attempts = 0
      move(where, rows[i], record, PENDING, nil)
      moved = moved + 1
    end
  end
  h = start + width
end
write_queue()
write_counts()
return { moved, h < SPACE and string.format('%.0f', h) or '' }
