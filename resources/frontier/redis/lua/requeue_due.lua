#!lua flags=allow-oom
-- ARGV: now, how many to look at, how many of the running hour are still to be looked at ('' at first).
-- Returns how many became PENDING, what is left of the running hour ('' unknown), 1 when all is done.
--@include domain.lua
--@include record.lua
--@include queue.lua
local now, limit, left = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local running = math.floor(now / HOUR)
local hour = redis.call('ZRANGE', base .. 't', '-inf', running, 'BYSCORE', 'LIMIT', 0, 1)[1]
if not hour then return { 0, '', 1 } end
local list = base .. 't:' .. hour
local last = tonumber(hour) == running
if last then
  left = left or redis.call('LLEN', list)
  limit = math.min(limit, left)
end
local moved = 0
for _, key in ipairs(limit > 0 and redis.call('LPOP', list, limit) or {}) do
  local where = bucket(key)
  local value = redis.call('HGET', where, key)
  local record = value and decode(value)
  -- 1. due; 2. due later in this hour; 3. moved on since
  if record and record.state == DONE and record.due_at and record.due_at <= now then
    record.attempts = 0
    move(where, key, record, PENDING, nil)
    moved = moved + 1
  elseif record and record.state == DONE and record.due_at and math.floor(record.due_at / HOUR) == running then
    redis.call('RPUSH', list, key)
  end
end
if redis.call('EXISTS', list) == 0 then redis.call('ZREM', base .. 't', hour) end
write_queue()
write_counts()
if last then
  left = left - limit
  return { moved, tostring(left), left <= 0 and 1 or 0 }
end
return { moved, '', 0 }
