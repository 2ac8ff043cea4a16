-- A record as bytes; the same layout as in record.py, which explains it.
local NOT_BEFORE, DONE_AT, DUE_AT, LASTMOD, ELIGIBLE, FAILED_AT = 1, 2, 4, 8, 16, 32
local TIMES = { 'not_before', 'done_at', 'due_at', 'lastmod', 'eligible', 'failed_at' }
local HASH, CAUSE, DETAIL = 64, 128, 256
local LONG, SHORT, IS_SHORT = '<I4BBI2i4I2I2BI2I2d', '<I4BBBbI2d', 128

-- Priority and flags of a record without its age.
local function peek(rest)
  if string.byte(rest, 2) < IS_SHORT then return struct.unpack('<i4', rest, 5), struct.unpack('<I2', rest, 16) end
  local priority, flags = struct.unpack('<bI2', rest, 4)
  return priority, flags
end

local function decode(value)
  local record, flags, at = {}, nil, nil
  if string.byte(value, 6) < IS_SHORT then
    record.n, record.state, record.source, record.depth, record.priority, record.attempts, record.fetches,
      record.redirects, record.status, flags, record.discovered, at = struct.unpack(LONG, value)
  else
    record.n, record.state, record.source, record.depth, record.priority, flags, record.discovered, at =
      struct.unpack(SHORT, value)
    record.source = record.source - IS_SHORT
    record.attempts, record.fetches, record.redirects, record.status = 0, 0, 0, 0
  end
  for bit_number, name in ipairs(TIMES) do
    if bit.band(flags, bit.lshift(1, bit_number - 1)) ~= 0 then
      record[name], at = struct.unpack('<d', value, at)
    end
  end
  record.hash, record.cause, record.detail = '', '', ''
  if bit.band(flags, HASH) ~= 0 then record.hash, at = struct.unpack('<Bc0', value, at) end
  if bit.band(flags, CAUSE) ~= 0 then record.cause, at = struct.unpack('<I2c0', value, at) end
  if bit.band(flags, DETAIL) ~= 0 then record.detail, at = struct.unpack('<I2c0', value, at) end
  record.kept = bit.band(flags, 0xFE00)
  record.tail = string.sub(value, at)
  return record
end

local function encode(record)
  local flags, parts = record.kept, { '' }
  for bit_number, name in ipairs(TIMES) do
    if record[name] then
      flags = bit.bor(flags, bit.lshift(1, bit_number - 1))
      parts[#parts + 1] = struct.pack('<d', record[name])
    end
  end
  if record.hash ~= '' then
    flags = bit.bor(flags, HASH)
    parts[#parts + 1] = struct.pack('<Bc0', #record.hash, record.hash)
  end
  if record.cause ~= '' then
    flags = bit.bor(flags, CAUSE)
    parts[#parts + 1] = struct.pack('<I2c0', #record.cause, record.cause)
  end
  if record.detail ~= '' then
    flags = bit.bor(flags, DETAIL)
    parts[#parts + 1] = struct.pack('<I2c0', #record.detail, record.detail)
  end
  parts[#parts + 1] = record.tail
  if record.attempts + record.fetches + record.redirects + record.status == 0 and record.depth < 256
    and record.priority >= -128 and record.priority < 128 then
    parts[1] = struct.pack(SHORT, record.n, record.state, record.source + IS_SHORT, record.depth, record.priority,
      flags, record.discovered)
  else
    parts[1] = struct.pack(LONG, record.n, record.state, record.source, record.depth, record.priority,
      math.min(record.attempts, 65535), math.min(record.fetches, 65535), record.redirects, record.status, flags,
      record.discovered)
  end
  return table.concat(parts)
end
