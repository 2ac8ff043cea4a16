-- Where the URLs of each state are found again, so that nothing is ever searched for.
--
--   q:<priority>:<chunk>  zset: up to CHUNK claimable keys, by age; kept flat by Redis (zset-max-listpack-entries)
--   i                     zset of the chunks that hold something, in the order in which they are claimed
--   p                     zset: parked keys by not_before
--   l, o, w:<worker>      leases: keys by end, token and owner of each key, keys of each worker
--   t, t:<hour>           hours in which something is due; DONE keys that are due in that hour
--   fc, f:<cause>         causes; zset of FAILED keys by the instant from which they may be retried
--   xr, x:<reason>        reasons; EXCLUDED keys with that reason
--
-- t: and x: are lists that are only added to and taken from; an entry whose record has moved on since is void.
local CHUNK = 120
local HOUR = 3600
-- Beyond this distance from 0 priorities are claimed as if equal: the order must fit a double, with the chunk.
local PRIORITY_MAX = 524287

local queued = {}
local ages = {}

local function next_age(priority)
  local age = ages[priority]
  if not age then age = tonumber(redis.call('HGET', meta, 'n' .. priority) or '0') end
  ages[priority] = age + 1
  return age
end

local function queue(priority, n, key)
  local name = priority .. ':' .. math.floor(n / CHUNK)
  local chunk = queued[name]
  if not chunk then
    chunk = { priority = priority, number = math.floor(n / CHUNK) }
    queued[name] = chunk
  end
  chunk[#chunk + 1] = n % CHUNK
  chunk[#chunk + 1] = key
end

local function unqueue(priority, n, key)
  local name = priority .. ':' .. math.floor(n / CHUNK)
  redis.call('ZREM', base .. 'q:' .. name, key)
  if redis.call('EXISTS', base .. 'q:' .. name) == 0 then redis.call('ZREM', base .. 'i', name) end
end

-- Write what was queued and the ages that were given.
local function write_queue()
  for name, chunk in pairs(queued) do
    redis.call('ZADD', base .. 'q:' .. name, unpack(chunk))
    local order = math.max(-PRIORITY_MAX, math.min(PRIORITY_MAX, chunk.priority)) * SPACE + chunk.number
    redis.call('ZADD', base .. 'i', order, name)
  end
  queued = {}
  for priority, age in pairs(ages) do redis.call('HSET', meta, 'n' .. priority, age) end
  ages = {}
end

local function lease(key, owner, token, until_)
  redis.call('ZADD', base .. 'l', until_, key)
  redis.call('HSET', base .. 'o', key, token .. owner)
  redis.call('SADD', base .. 'w:' .. owner, key)
end

local function unlease(key, held)
  redis.call('ZREM', base .. 'l', key)
  redis.call('HDEL', base .. 'o', key)
  redis.call('SREM', base .. 'w:' .. string.sub(held, 9), key)
end

-- Put a record into the structure of its state.
local function enlist(key, record)
  local state = record.state
  if state == PENDING then
    if record.not_before then
      redis.call('ZADD', base .. 'p', record.not_before, key)
    else
      queue(record.priority, record.n, key)
    end
  elseif state == DONE then
    if record.due_at then
      local hour = math.floor(record.due_at / HOUR)
      redis.call('RPUSH', base .. 't:' .. hour, key)
      redis.call('ZADD', base .. 't', hour, hour)
    end
  elseif state == FAILED then
    redis.call('SADD', base .. 'fc', record.cause)
    redis.call('ZADD', base .. 'f:' .. record.cause, record.eligible or '+inf', key)
  elseif state == EXCLUDED then
    redis.call('SADD', base .. 'xr', record.cause)
    redis.call('RPUSH', base .. 'x:' .. record.cause, key)
  end
end

-- Take a record out of the structure of its state.
local function delist(key, record)
  local state = record.state
  if state == PENDING then
    if record.not_before then
      redis.call('ZREM', base .. 'p', key)
    else
      unqueue(record.priority, record.n, key)
    end
  elseif state == LEASED then
    local held = redis.call('HGET', base .. 'o', key)
    if held then unlease(key, held) end
  elseif state == FAILED then
    redis.call('ZREM', base .. 'f:' .. record.cause, key)
  end
end

-- The one place where a state changes. The record must be out of its old structure already.
local function move(where, key, record, state, not_before)
  count(record.state, -1)
  count(state, 1)
  record.state = state
  record.not_before = not_before
  redis.call('HSET', where, key, encode(record))
  enlist(key, record)
end
