-- Adding URLs: an argument pair each, key and record without its age.
local added = { 0, 0, 0, 0 } -- new, known, due again, excluded

-- True when the URL was fetched before `lastmod` and is due again; else the date is only noted.
local function note_lastmod(where, key, value, rest)
  local lastmod = decode('\0\0\0\0' .. rest).lastmod
  local record = decode(value)
  local newer = not record.lastmod or record.lastmod < lastmod
  if newer then record.lastmod = lastmod end
  if record.state == DONE and record.done_at and record.done_at < lastmod then
    record.attempts = 0
    move(where, key, record, PENDING, nil)
    return true
  end
  if newer then redis.call('HSET', where, key, encode(record)) end
  return false
end

local function add(key, rest)
  local where = bucket(key)
  local value = redis.call('HGET', where, key)
  local priority, flags = peek(rest)
  if value then
    local dated = bit.band(flags, LASTMOD) ~= 0
    if dated and note_lastmod(where, key, value, rest) then
      added[3] = added[3] + 1
    else
      added[2] = added[2] + 1
    end
    return
  end
  local n = next_age(priority)
  value = struct.pack('<I4', n) .. rest
  redis.call('HSET', where, key, value)
  if string.byte(rest, 1) == PENDING then
    queue(priority, n, key)
    count(PENDING, 1)
    added[1] = added[1] + 1
  else
    enlist(key, decode(value))
    count(EXCLUDED, 1)
    added[4] = added[4] + 1
  end
end
