#!lua flags=allow-oom
-- One worker's turn on one domain: what it saw goes in; permits, slots and the pace in force come out.
--
-- KEYS[1] '<namespace>:{<domain>}:pace', a hash: leader, lead_until, rate, cap, gate, owed, told (the leader's
-- whole state, for its successor), tat (theoretical arrival time of the next slot), quiet (until then nothing new
-- is given: see 0), lost (slots that were given and not used, to be made up for). Beside it, same slot:
--   …:p  permits by worker    …:u  workers by the end of their permits    …:w  who waits for one, since when
--   …:g  since when a worker holds its permits without a break            …:o  observations for the leader
--   …:f  slots that were given back
-- All instants are this server's (TIME): clocks of workers do not matter.
--
-- ARGV: worker, permits it holds to, URLs it could request now, slots asked for, burst, seconds everybody must
-- wait ('' none), rate, cap, gate, told ('' each: not the leader, or nothing new), 1 in the first turn after a
-- connection broke, slots that were too late to be used, number of slots given back, these slots, observations.
-- Returns now, leading (0 no, 1 yes, 2 just now), permits more, permits to hold at most, holders, rate, cap,
-- gate, told (only to a new leader), seconds after which to ask again, number of slots, slots, observations
-- (only to the leader).
local LEAD_S, PERMIT_S, SLICE_S, AHEAD_S, AGAIN_S, SOON_S = 3, 20, 4, 1, 0.2, 0.03
-- Lost slots are made up for by gaps that much shorter: half of what a rate may be off. More than a second's are not.
local CATCH_UP = 0.01
local key = KEYS[1]
local permits, ends, waiting, since, seen = key .. ':p', key .. ':u', key .. ':w', key .. ':g', key .. ':o'
local free_slots = key .. ':f'
local worker, hold, want = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local function exact(number) return string.format('%.6f', number) end

local leader, lead_until, rate, cap, gate, owed, told, tat, quiet, lost = unpack(redis.call('HMGET', key,
  'leader', 'lead_until', 'rate', 'cap', 'gate', 'owed', 'told', 'tat', 'quiet', 'lost'))

-- 0. Where a connection broke the server may have crashed, and what it gave in its last moments be forgotten:
-- slots of the next second, and permits, which those who hold them say within that time.
if ARGV[11] == '1' then
  quiet = exact(now + AHEAD_S)
  tat = exact(math.max(tonumber(tat or '0'), now + AHEAD_S))
  redis.call('HSET', key, 'quiet', quiet, 'tat', tat)
end
local silent = now < tonumber(quiet or '0')

-- 1. The leader: whoever asks first, until it is not heard of for a while.
local leading = 0
if leader == worker then
  leading = 1
elseif not leader or tonumber(lead_until) < now then
  leading = 2
end
if leading > 0 then redis.call('HSET', key, 'leader', worker, 'lead_until', exact(now + LEAD_S)) end
if leading == 1 and ARGV[7] ~= '' then
  rate, cap, gate, told = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
  redis.call('HSET', key, 'rate', rate, 'cap', cap, 'gate', gate, 'told', told)
  redis.call('EXPIRE', key, 86400) -- the ledger remembers for longer
end
if ARGV[6] ~= '' and now + tonumber(ARGV[6]) > tonumber(owed or '0') then
  owed = exact(now + tonumber(ARGV[6]))
  redis.call('HSET', key, 'owed', owed)
end
local open_at = math.max(tonumber(gate or '0'), tonumber(owed or '0'))

-- 2. Permits: what all workers hold together is never more than the cap.
for _, gone in ipairs(redis.call('ZRANGE', ends, '-inf', exact(now), 'BYSCORE')) do
  redis.call('HDEL', permits, gone)
  redis.call('HDEL', since, gone)
  redis.call('ZREM', waiting, gone)
  redis.call('ZREM', ends, gone)
end
redis.call('ZREM', waiting, worker)
local others, holders = 0, 0
local held = redis.call('HGETALL', permits)
for i = 1, #held, 2 do
  if held[i] ~= worker then
    others = others + tonumber(held[i + 1])
    holders = holders + 1
  end
end
local queue = redis.call('ZCARD', waiting)
local most = tonumber(cap or '1')
local target, extra, again = hold, 0, AGAIN_S
local wanted = math.min(most, want)
if want > 0 or hold > 0 then
  local fair = math.max(1, math.floor(most / (holders + queue + 1)))
  if want <= 0 then
    target = 0
  elseif queue > 0 then
    -- Somebody waits: no more than a fair share, and of a single permit only for a while.
    target = math.min(wanted, fair)
    local begun = tonumber(redis.call('HGET', since, worker) or exact(now))
    if hold > 0 and most < holders + queue + 1 then
      if now - begun >= SLICE_S then target = 0 end
      again = math.max(SOON_S, math.min(AGAIN_S, begun + SLICE_S - now))
    end
  else
    target = wanted
  end
  local free = most - others - hold
  local mine = tonumber(redis.call('HGET', since, worker .. ':asked') or exact(now))
  if target > hold and free > 0 then
    local before = hold == 0 and redis.call('ZCOUNT', waiting, '-inf', '(' .. exact(mine)) or queue
    extra = math.max(0, math.min(target - hold, free - before))
  end
  if silent then
    extra, target = 0, math.min(target, hold)
  end
  if hold + extra == 0 and want > 0 then
    -- Ask again when the first of the holders has had its time.
    for i = 1, #held, 2 do
      local begun = redis.call('HGET', since, held[i])
      if begun then again = math.max(SOON_S, math.min(again, tonumber(begun) + SLICE_S - now)) end
    end
    redis.call('ZADD', waiting, exact(mine), worker)
    redis.call('HSET', since, worker .. ':asked', exact(mine))
  else
    redis.call('HDEL', since, worker .. ':asked')
  end
end
if hold + extra > 0 then
  redis.call('HSET', permits, worker, hold + extra)
  redis.call('HSETNX', since, worker, exact(now))
  holders = holders + 1
else
  redis.call('HDEL', permits, worker)
  redis.call('HDEL', since, worker)
end
if hold + extra > 0 or want > 0 then
  redis.call('ZADD', ends, exact(now + PERMIT_S), worker)
else
  redis.call('ZREM', ends, worker)
  redis.call('HDEL', since, worker .. ':asked')
end

-- 3. Slots: those given back that are still to come (others are lost, but for a wait), then new ones by the generic cell rate algorithm of
-- `pacing.slots`, one for all workers.
local slots = {}
local asked = tonumber(ARGV[4])
local back = tonumber(ARGV[13])
for i = 14, 13 + back do redis.call('ZADD', free_slots, ARGV[i], ARGV[i]) end
local passed = redis.call('ZREMRANGEBYSCORE', free_slots, '-inf', '(' .. exact(math.min(math.max(now, open_at, tonumber(quiet or '0')), 1e12)))
if open_at > now or silent then passed = 0 end
if rate and tonumber(rate) > 0 then
  local interval = 1 / tonumber(rate)
  local owing = math.min(tonumber(lost or '0') + tonumber(ARGV[12]) + passed, tonumber(rate))
  local arrival = tonumber(tat or exact(now))
  local tolerance = (tonumber(ARGV[5]) - 1) * interval
  local earliest = math.max(now, open_at)
  if hold + extra > 0 and open_at < math.huge then
    if asked > 0 then
      local free = redis.call('ZPOPMIN', free_slots, asked)
      for i = 1, #free, 2 do slots[#slots + 1] = free[i] end
    end
    local booked = #slots
    while #slots < asked do
      local slot = math.max(arrival - tolerance, earliest)
      if #slots > 0 and slot > now + AHEAD_S then break end
      local sooner = math.min(owing, CATCH_UP)
      owing = owing - sooner
      arrival = math.max(arrival, slot) + interval * (1 - sooner)
      slots[#slots + 1] = exact(slot)
    end
    if #slots > booked then redis.call('HSET', key, 'tat', exact(arrival)) end
  end
  if owing ~= tonumber(lost or '0') then redis.call('HSET', key, 'lost', string.format('%.6f', owing)) end
end

-- 4. What was seen.
if leading == 0 then
  for i = 14 + back, #ARGV do redis.call('RPUSH', seen, ARGV[i]) end
end
local heard = {}
if leading > 0 then
  heard = redis.call('LRANGE', seen, 0, -1)
  redis.call('DEL', seen)
end
local reply = {
  exact(now), leading, extra, target, holders, rate or '', cap or '', exact(math.min(open_at, 1e12)),
  leading == 2 and told or '', exact(again), #slots,
}
for _, slot in ipairs(slots) do reply[#reply + 1] = slot end
for _, each in ipairs(heard) do reply[#reply + 1] = each end
return reply
