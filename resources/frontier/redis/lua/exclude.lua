#!lua
-- ARGV: reason, detail, keys. PENDING becomes EXCLUDED. Returns how many.
--@include domain.lua
--@include record.lua
--@include queue.lua
local moved = 0
for i = 3, #ARGV do
  local key = ARGV[i]
  local where = bucket(key)
  local value = redis.call('HGET', where, key)
  if value and string.byte(value, 5) == PENDING then
    local record = decode(value)
    delist(key, record)
    record.cause, record.detail = ARGV[1], ARGV[2]
    move(where, key, record, EXCLUDED, nil)
    moved = moved + 1
  end
end
write_counts()
return moved
