// The rate limits as Lua scripts for Redis. Each script is one atomic step for all gateways and
// uses the time of Redis, so that their clocks do not matter. The rules are those of judge.ts.
import { newScript } from '../../../lib/net/redis.ts'
import { windowMs } from './window.ts'

/** Keys expire after this long without a write. */
const expiryMs = 2 * windowMs

// A gateway's number of running calls is what Redis has counted, held between what the gateway
// knows to run (`least`) and that plus what it has asked about (`most`). So the number is exact
// while all goes well, and right again one step after Redis forgot or missed something.
const words = `
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function within(least, most, value)
  return math.max(tonumber(least), math.min(tonumber(most), value))
end
local function number(value)
  return math.max(0, tonumber(value) or 0)
end
local function setRunning(key, gateway, value)
  if value == 0 then
    redis.call('HDEL', key, gateway)
  else
    redis.call('HSET', key, gateway, value)
    redis.call('PEXPIRE', key, ${expiryMs})
  end
end
local function countAlive(gateways, at, aliveMs)
  return redis.call('ZCOUNT', gateways, at - aliveMs, at + aliveMs)
end
`

/**
 * Keys: window, running, gateways. Arguments: gateway, aliveMs, rpm, tpm, concurrency ('' for
 * none), cost, least, most, then what the gateway has let in by its own count: the minute, requests of
 * it and of the one before, tokens likewise. A window that does not know the gateway has forgotten that
 * (or never heard of it), and takes it up. Reply: see shared-counts.ts.
 */
export const enterScript = newScript(`${words}
local window, running, gateways = KEYS[1], KEYS[2], KEYS[3]
local gateway, aliveMs = ARGV[1], tonumber(ARGV[2])
local rpm, tpm, concurrency = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local cost = tonumber(ARGV[6])
local at = now()
local count = countAlive(gateways, at, aliveMs)

local minute = math.floor(at / ${windowMs})
local left = ${windowMs} - (at - minute * ${windowMs})
local r, rBefore, t, tBefore = 0, 0, 0, 0
local seen = 'seen:' .. gateway
local kept = redis.call('HMGET', window, 'minute', 'r', 'rBefore', 't', 'tBefore', seen)
if kept[1] then
  local minutes = minute - tonumber(kept[1])
  if minutes == -1 then
    minute = minute + 1
    left = ${windowMs}
  end
  if minutes <= 0 then
    r, rBefore, t, tBefore = number(kept[2]), number(kept[3]), number(kept[4]), number(kept[5])
  elseif minutes == 1 then
    rBefore, tBefore = number(kept[2]), number(kept[4])
  end
end
if not kept[6] then
  local minutes = minute - tonumber(ARGV[9])
  if minutes == 0 then
    r, rBefore = r + number(ARGV[10]), rBefore + number(ARGV[11])
    t, tBefore = t + number(ARGV[12]), tBefore + number(ARGV[13])
  elseif minutes == 1 then
    rBefore, tBefore = rBefore + number(ARGV[10]), tBefore + number(ARGV[12])
  end
end

local mine, others = 0, 0
if concurrency then
  local all = redis.call('HGETALL', running)
  for i = 1, #all, 2 do
    if all[i] == gateway then
      mine = number(all[i + 1])
    else
      local beat = number(redis.call('ZSCORE', gateways, all[i]))
      if math.abs(at - beat) <= aliveMs then
        others = others + number(all[i + 1])
      else
        redis.call('HDEL', running, all[i])
      end
    end
  end
  mine = within(ARGV[7], ARGV[8], mine)
end

local admitted = 1
if rpm and rBefore * left + (r + 1) * ${windowMs} > rpm * ${windowMs} then admitted = 0 end
if tpm then
  local used = tBefore * left + t * ${windowMs}
  local fits = used + cost * ${windowMs} <= tpm * ${windowMs}
  if not fits and (cost <= tpm or used > 0) then admitted = 0 end
end
if concurrency and others + mine >= concurrency then admitted = 0 end

if admitted == 1 then
  r, t, mine = r + 1, t + cost, mine + 1
end
-- What was taken up is kept although the call is refused.
if (rpm or tpm) and (admitted == 1 or (not kept[6] and r + rBefore + t + tBefore > 0)) then
  redis.call('HSET', window, 'minute', minute, 'r', r, 'rBefore', rBefore, 't', t,
    'tBefore', tBefore, seen, 1)
  redis.call('PEXPIRE', window, ${expiryMs})
end
if concurrency then setRunning(running, gateway, mine) end
return { admitted, count, minute, left, r, rBefore, t, tBefore, others + mine }
`)

/**
 * Keys: window, running. Arguments: gateway, the minute the call was admitted in ('' when it was
 * not counted here), by how much it is corrected, least, most ('' when running calls do not count).
 */
export const leaveScript = newScript(`${words}
local window, running = KEYS[1], KEYS[2]
local gateway, minute, by = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if minute and by ~= 0 then
  local current = tonumber(redis.call('HGET', window, 'minute'))
  local field = current == minute and 't' or current == minute + 1 and 'tBefore'
  if field then
    redis.call('HSET', window, field, number(number(redis.call('HGET', window, field)) + by))
  end
end
if ARGV[4] ~= '' then
  local mine = number(redis.call('HGET', running, gateway)) - 1
  setRunning(running, gateway, within(ARGV[4], ARGV[5], mine))
end
return 1
`)

/**
 * Keys: gateways, then the running calls of any number of tokens. Arguments: gateway, aliveMs, then
 * least and most for each token. Reply: gateways alive, time.
 */
export const beatScript = newScript(`${words}
local gateways, gateway, aliveMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
local at = now()
redis.call('ZADD', gateways, at, gateway)
redis.call('ZREMRANGEBYSCORE', gateways, '-inf', at - ${expiryMs})
redis.call('PEXPIRE', gateways, ${expiryMs})
for i = 2, #KEYS do
  local mine = number(redis.call('HGET', KEYS[i], gateway))
  setRunning(KEYS[i], gateway, within(ARGV[2 * i - 1], ARGV[2 * i], mine))
end
return { countAlive(gateways, at, aliveMs), at }
`)
