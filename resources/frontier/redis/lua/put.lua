#!lua
-- ARGV: key, record without its age, owner, end of lease, token; for each row. Existing rows are overwritten.
--@include domain.lua
--@include record.lua
--@include queue.lua
for i = 1, #ARGV, 5 do
  local key = ARGV[i]
  local where = bucket(key)
  local record = decode('\0\0\0\0' .. ARGV[i + 1])
  local value = redis.call('HGET', where, key)
  local old = value and decode(value)
  if old then
    write_queue() -- the old row may have been queued by this very call
    delist(key, old)
    count(old.state, -1)
  end
  -- As old as the row it replaces, where that means anything.
  record.n = old and old.priority == record.priority and old.n or next_age(record.priority)
  redis.call('HSET', where, key, encode(record))
  count(record.state, 1)
  if record.state == LEASED then
    lease(key, ARGV[i + 2], ARGV[i + 4], ARGV[i + 3])
  else
    enlist(key, record)
  end
end
write_queue()
grow(write_counts())
return #ARGV / 5
