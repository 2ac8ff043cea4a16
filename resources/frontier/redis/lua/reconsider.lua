#!lua flags=allow-oom
-- ARGV: reason, how many to look at. Returns how many became PENDING, 1 when all is done.
--@include domain.lua
--@include record.lua
--@include queue.lua
local list, moved = base .. 'x:' .. ARGV[1], 0
for _, key in ipairs(redis.call('LPOP', list, ARGV[2]) or {}) do
  local where = bucket(key)
  local value = redis.call('HGET', where, key)
  local record = value and decode(value)
  if record and record.state == EXCLUDED and record.cause == ARGV[1] then
    record.attempts, record.cause, record.detail = 0, '', ''
    move(where, key, record, PENDING, nil)
    moved = moved + 1
  end
end
local over = redis.call('EXISTS', list) == 0
if over then redis.call('SREM', base .. 'xr', ARGV[1]) end
write_queue()
write_counts()
return { moved, over and 1 or 0 }
