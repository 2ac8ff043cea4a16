-- A record as bytes; the same layout as in record.py, which explains it.
local NOT_BEFORE, DONE_AT, DUE_AT, LASTMOD, ELIGIBLE, FAILED_AT = 1, 2, 4, 8, 16, 32
local TIMES = { 'not_before', 'done_at', 'due_at', 'lastmod', 'eligible', 'failed_at' }
local HASH, CAUSE, DETAIL = 64, 128, 256
local HEAD = '<I4BBI2i4I2I2BI2I2d'

local function decode(value)
  local record, flags, at = {}, nil, nil
  record.n, record.state, record.source, record.depth, record.priority, record.attempts, record.fetches,
    record.redirects, record.status, flags, record.discovered, at = struct.unpack(HEAD, value)
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
  parts[1] = struct.pack(HEAD, record.n, record.state, record.source, record.depth, record.priority,
    math.min(record.attempts, 65535), math.min(record.fetches, 65535), record.redirects, record.status, flags,
    record.discovered)
  return table.concat(parts)
end
