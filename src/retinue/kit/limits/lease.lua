-- Acquires one of a limited number of slots until a deadline; expired leases are removed.
-- KEYS[1]  a sorted set of leases, scored by their expiry in milliseconds
-- ARGV     now in milliseconds ('' uses the server's clock), limit, lease, time to live in milliseconds
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local limit, lease, ttl = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], lease) and redis.call('ZCARD', KEYS[1]) >= limit then return 0 end
redis.call('ZADD', KEYS[1], now + ttl, lease)
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIRE', KEYS[1], last[2] - now)
return 1
