-- One domain: its counters and the buckets that hold its records. Part of every script on a domain.
--
-- KEYS[1] is '<namespace>:{<domain>}:m', a hash; all other keys of the domain start with the same '…{…}:' and
-- so live in the same slot. Fields of the hash: '0' to '4' URLs by state, 'buckets' how many buckets there are,
-- 'n<priority>' the last age given in that priority, 'log' the number of the first row in the log's outbox.
--
-- Buckets are a linear hash over the first 32 bits of the key, kept in key order: a bucket is named by the
-- first value of its range. While 2^L <= buckets < 2^(L+1), the first (buckets - 2^L) ranges of width 2^(32-L)
-- are split in two. Growing by one bucket moves half of one bucket: no call ever rewrites a domain.
local PENDING, LEASED, DONE, FAILED, EXCLUDED = 0, 1, 2, 3, 4
local SPACE = 4294967296
-- Mean load of a bucket. One that waits for its split holds twice as many: still within the 128 entries up to
-- which Redis keeps a hash as one flat string (hash-max-listpack-entries).
local LOAD = 44

local meta = KEYS[1]
local base = string.sub(meta, 1, -2)
local changes = { [0] = 0, 0, 0, 0, 0 }
local buckets, whole, split

local function measure()
  whole = 1
  while whole * 2 <= buckets do whole = whole * 2 end
  split = buckets - whole
end

buckets = tonumber(redis.call('HGET', meta, 'buckets') or '1')
measure()

local function range_of(h)
  local width = SPACE / whole
  if math.floor(h / width) < split then width = width / 2 end
  return h - h % width, width
end

local function bucket_at(start)
  return base .. 'u:' .. string.format('%.0f', start)
end

local function place_of(key)
  local a, b, c, d = string.byte(key, 1, 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

local function bucket(key)
  local start = range_of(place_of(key))
  return bucket_at(start)
end

-- Split one bucket after the other until the load is as it should be.
local function grow(total)
  local wanted = math.ceil(total / LOAD)
  if wanted <= buckets then return end
  while buckets < wanted do
    local width = SPACE / whole
    local start = split * width
    local middle = start + width / 2
    local rows = redis.call('HGETALL', bucket_at(start))
    local moving, leaving = {}, {}
    for i = 1, #rows, 2 do
      if place_of(rows[i]) >= middle then
        moving[#moving + 1] = rows[i]
        moving[#moving + 1] = rows[i + 1]
        leaving[#leaving + 1] = rows[i]
      end
    end
    if #leaving > 0 then
      redis.call('HSET', bucket_at(middle), unpack(moving))
      redis.call('HDEL', bucket_at(start), unpack(leaving))
    end
    buckets = buckets + 1
    measure()
  end
  redis.call('HSET', meta, 'buckets', buckets)
end

local function count(state, by)
  changes[state] = changes[state] + by
end

-- Write the counters; returns how many URLs the domain has.
local function write_counts()
  for state = PENDING, EXCLUDED do
    if changes[state] ~= 0 then
      redis.call('HINCRBY', meta, state, changes[state])
      changes[state] = 0
    end
  end
  local total = 0
  for _, number in ipairs(redis.call('HMGET', meta, 0, 1, 2, 3, 4)) do
    total = total + tonumber(number or '0')
  end
  return total
end
