#!lua
-- ARGV: now, number of acks; key, token, ack, log row ('' none) for each; then for each distinct outlink: which
-- acks name it (two bytes each), key, record without its age.
-- Returns acked, stale, new, known, due again, excluded.
--@include domain.lua
--@include record.lua
--@include queue.lua
--@include add.lua
local V_DONE, V_RETRY, V_FAILED, V_EXCLUDED = 0, 1, 2, 3
local now, acks = tonumber(ARGV[1]), tonumber(ARGV[2])
local standing, acked = {}, 0

local function some(number)
  if number == number then return number end
end

local function finish(where, key, ack)
  local verdict, counts, status, at, due, not_before, eligible, cause, detail, hash =
    struct.unpack('<BBI2ddddI2c0I2c0Bc0', ack)
  local record = decode(redis.call('HGET', where, key))
  not_before = some(not_before)
  if not_before and not_before <= now then not_before = nil end
  -- 1. handed back untouched; 2. excluded; 3. done; 4. failed; 5. again later
  if verdict > V_EXCLUDED then
    move(where, key, record, PENDING, not_before)
    return
  end
  record.cause, record.detail = cause, detail
  if status > 0 then record.status = status end
  if verdict == V_EXCLUDED then
    move(where, key, record, EXCLUDED, nil)
    return
  end
  record.attempts = record.attempts + counts
  record.fetches = record.fetches + 1
  if verdict == V_DONE then
    record.done_at, record.due_at = at, some(due)
    record.failed_at, record.eligible = nil, nil
    if hash ~= '' then record.hash = hash end
    move(where, key, record, DONE, nil)
  elseif verdict == V_FAILED then
    record.failed_at, record.eligible = at, some(eligible)
    move(where, key, record, FAILED, nil)
  else
    move(where, key, record, PENDING, not_before)
  end
end

for number = 1, acks do
  local at = 3 + (number - 1) * 4
  local key, token = ARGV[at], ARGV[at + 1]
  local held = redis.call('HGET', base .. 'o', key)
  if held and string.sub(held, 1, 8) == token then
    unlease(key, held)
    finish(bucket(key), key, ARGV[at + 2])
    if ARGV[at + 3] ~= '' then redis.call('RPUSH', base .. 'log', ARGV[at + 3]) end
    standing[number] = true
    acked = acked + 1
  end
end

for at = 3 + acks * 4, #ARGV, 3 do
  local named = 0
  local names = ARGV[at]
  for i = 1, #names, 2 do
    if standing[struct.unpack('<I2', names, i)] then named = named + 1 end
  end
  if named > 0 then
    add(ARGV[at + 1], ARGV[at + 2])
    added[2] = added[2] + named - 1
  end
end
write_queue()
grow(write_counts())
return { acked, acks - acked, added[1], added[2], added[3], added[4] }
