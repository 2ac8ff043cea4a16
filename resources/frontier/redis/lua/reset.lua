#!lua flags=allow-oom
-- ARGV: where to go on, how many buckets. Returns how many URLs were forgotten, where to go on ('' at the end).
-- The fence of the domain's lease and the log stay.
--@include domain.lua
--@include record.lua
--@include queue.lua
local h, forgotten = tonumber(ARGV[1]), 0
for _ = 1, tonumber(ARGV[2]) do
  if h >= SPACE then break end
  local start, width = range_of(h)
  local rows = redis.call('HGETALL', bucket_at(start))
  for i = 1, #rows, 2 do
    local record = decode(rows[i + 1])
    delist(rows[i], record)
    count(record.state, -1)
  end
  redis.call('UNLINK', bucket_at(start))
  forgotten = forgotten + #rows / 2
  h = start + width
end
local total = write_counts()
if h < SPACE then return { forgotten, string.format('%.0f', h) } end
if total == 0 then
  for _, hour in ipairs(redis.call('ZRANGE', base .. 't', 0, -1)) do redis.call('UNLINK', base .. 't:' .. hour) end
  for _, reason in ipairs(redis.call('SMEMBERS', base .. 'xr')) do redis.call('UNLINK', base .. 'x:' .. reason) end
  redis.call('UNLINK', base .. 't', base .. 'xr', base .. 'fc')
  redis.call('HDEL', meta, 'buckets', 0, 1, 2, 3, 4)
end
return { forgotten, '' }
