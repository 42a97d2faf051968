"""The limits of all processes together, in Redis: one script, one round trip, Redis's own clock."""

from functools import lru_cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from retinue.kit.clock import Clock
from retinue.kit.limits.decision import Decision, LimitsUnreachable
from retinue.kit.limits.memory import Used
from retinue.kit.limits.plans import PLANS, PlanLimits
from retinue.kit.limits.window import LONGEST_STANDSTILL_MS, UNLIMITED, Allowance, Tally, bucket_of, single


class Script:
    """A Lua script called by its hash, and sent in full when Redis does not have it."""

    def __init__(self, name: str) -> None:
        self._text = files(__package__).joinpath(name).read_text()
        self._hash = sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    async def run(self, client: Redis, key: str, *arguments: str | int | bytes) -> Any:
        try:
            try:
                return await client.evalsha(self._hash, 1, key, *arguments)
            except NoScriptError:
                return await client.eval(self._text, 1, key, *arguments)
        except (RedisError, OSError) as error:
            raise LimitsUnreachable(repr(error)) from error


_HIT = Script("rate_limit.lua")
_LEASE = Script("lease.lua")
_PREFIX = "retinue:limits"


class RedisStore:
    """The same answers as MemoryStore, awaited; `clock` takes the place of Redis's own in tests."""

    def __init__(self, client: Redis, clock: Clock | None = None) -> None:
        """`client` must not decode responses: the state is binary."""
        self._client = client
        self._clock = clock

    @classmethod
    def connect(cls, url: str, *, clock: Clock | None = None) -> "RedisStore":
        """A store with connections of its own, made as they are needed."""
        # One more try at once, for a connection that broke while it was idle; how long a request waits is
        # the Limiter's concern, these seconds only end what it has given up.
        retry = Retry(NoBackoff(), 1)
        return cls(Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1, retry=retry), clock)

    async def hit(self, key: str, limits: PlanLimits, cost: int, *, burst: bool = True) -> Decision:
        """Charge a request to its plan; a cost of 0 only looks and is never refused."""
        return await self._hit(f"{_PREFIX}:plan:{key}", limits.bursting if burst else limits.steady, cost)

    async def hit_window(self, key: str, limit: int | None, window_seconds: int, cost: int = 1) -> Decision:
        """Charge a throttle that has one window of its own."""
        return await self._hit(f"{_PREFIX}:{window_seconds}:{key}", single(limit, window_seconds), cost)

    async def _hit(self, name: str, allowance: Allowance, cost: int) -> Decision:
        allowed, now, tally = await self._run(name, allowance, cost)
        return tally.admitted(now) if allowed else tally.refused(now, cost)

    async def used(self, key: str) -> Used:
        # Looking needs the windows of a plan, whichever its limits.
        _, _, tally = await self._run(f"{_PREFIX}:plan:{key}", PLANS["free"].steady, 0)
        return Used(*(window.used for window in tally.windows))

    async def _run(self, name: str, allowance: Allowance, cost: int) -> tuple[bool, int, Tally]:
        allowed, now, packed = await _HIT.run(self._client, name, cost, self._now(), _rules(allowance))
        return bool(allowed), now, _restored(allowance, packed)

    def _now(self) -> str | int:
        return int(self._clock.time() * 1000) if self._clock else ""

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        """Take one of `limit` places for `ttl` seconds; the same lease again is renewed."""
        places = UNLIMITED if limit is None else limit
        name = f"{_PREFIX}:leases:{key}"
        return bool(await _LEASE.run(self._client, name, self._now(), places, lease_id, round(ttl * 1000)))

    async def release(self, key: str, lease_id: str) -> None:
        try:
            await self._client.zrem(f"{_PREFIX}:leases:{key}", lease_id)
        except (RedisError, OSError) as error:
            raise LimitsUnreachable(repr(error)) from error

    async def close(self) -> None:
        await self._client.aclose()


@lru_cache(maxsize=4096)
def _rules(allowance: Allowance) -> bytes:
    """An allowance as the script reads it."""
    windows = [
        (span, bucket_of(span), limit) for span, limit in zip(allowance.spans, allowance.limits, strict=True)
    ]
    return msgspec.msgpack.encode([LONGEST_STANDSTILL_MS, allowance.ceiling, allowance.burst_ms, *windows])


def _restored(allowance: Allowance, packed: bytes) -> Tally:
    since, *windows = msgspec.msgpack.decode(packed)
    tally = Tally(allowance)
    tally.since = since
    for window, (used, *buckets) in zip(tally.windows, windows, strict=True):
        window.restore(used, buckets)
    return tally
