-- Charges every window of a key or none, atomically; the counterpart of window.py.
-- KEYS[1]  one key holds the whole state, so that its loss only resets the counts:
--          { since, window, ... }, each window { used, last cost of a bucket, its sum, ... }, oldest first
-- ARGV     cost (0 only reads), now in milliseconds ('' uses the server's clock), and the packed rules:
--          { largest clock setback, ceiling, burst milliseconds, { span, bucket, limit }, ... }
-- returns  1 or 0, the time used, and the state; only an admitted cost is written
local SPAN, BUCKET, LIMIT = 1, 2, 3
local cost, now, rules = tonumber(ARGV[1]), tonumber(ARGV[2]), cmsgpack.unpack(ARGV[3])
local standstill, ceiling, burst = rules[1], rules[2], rules[3]
local OFFSET = 3 -- the rule of window i is rules[i + OFFSET], its state is state[i + 1]
local count = #rules - OFFSET

if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function fresh()
  local state = { 0 }
  for i = 1, count do state[i + 1] = { 0 } end
  return state
end

local stored = redis.call('GET', KEYS[1])
local state = stored and cmsgpack.unpack(stored) or fresh()
local latest = state[2][#state[2] - 1]
if latest and now < latest then
  if latest - now <= standstill then now = latest else state = fresh() end
end

local function slid(window, span)
  local oldest, used = 2, window[1]
  while window[oldest] and window[oldest] + span <= now do
    used = used - window[oldest + 1]
    oldest = oldest + 2
  end
  if oldest == 2 then return window end
  local kept = { used }
  for at = oldest, #window do kept[#kept + 1] = window[at] end
  return kept
end

local function charge(window, bucket, amount)
  local size = #window
  window[1] = window[1] + amount
  if size > 1 and math.floor(window[size - 1] / bucket) == math.floor(now / bucket) then
    window[size - 1] = now
    window[size] = window[size] + amount
  else
    window[size + 1] = now
    window[size + 2] = amount
  end
end

local longer_fit, longest = true, 0
for i = 1, count do
  local rule = rules[i + OFFSET]
  state[i + 1] = slid(state[i + 1], rule[SPAN])
  if i > 1 and state[i + 1][1] >= rule[LIMIT] then longer_fit = false end
  longest = math.max(longest, rule[SPAN])
end
if cost == 0 then return { 1, now, cmsgpack.pack(state) } end

local used, limit = state[2][1], rules[1 + OFFSET][LIMIT]
if used < limit then state[1] = 0 end
local since = state[1]
local fits = used + cost <= limit
local bursts = burst > 0 and used + cost <= ceiling and (since == 0 or now - since < burst)
if not longer_fit or not (fits or bursts) then return { 0, now, cmsgpack.pack(state) } end

if not fits and since == 0 then state[1] = now end
for i = 1, count do charge(state[i + 1], rules[i + OFFSET][BUCKET], i == 1 and cost or 1) end
local packed = cmsgpack.pack(state)
redis.call('SET', KEYS[1], packed, 'PX', longest + standstill)
return { 1, now, packed }
