"""Rate limits shared by all processes, in Redis: one script, one round trip, Redis's own clock."""

from functools import lru_cache
from hashlib import sha1
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoScriptError, RedisError

from retinue.kit.clock import Clock
from retinue.kit.connection_faults import describe_fault
from retinue.kit.limits.decision import LimitsUnreachable, RateLimitDecision
from retinue.kit.limits.memory import WindowUsage
from retinue.kit.limits.plans import PLANS, PlanLimits
from retinue.kit.limits.redis_client import RedisClients
from retinue.kit.limits.window import (
    MAX_CLOCK_SETBACK_MS,
    UNLIMITED,
    Allowance,
    WindowTally,
    bucket_ms,
    single_window,
)


class RedisScript:
    """A Lua script, called by its hash and sent in full if Redis has not cached it."""

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
            raise _unreachable(client, error) from error


def _unreachable(client: Redis, error: Exception) -> LimitsUnreachable:
    """Return the error that names the server, the setting and the reason, without the password."""
    given = client.connection_pool.connection_kwargs
    where = f"{given['host']}:{given.get('port', 6379)}" if "host" in given else "its socket or sentinels"
    refused = isinstance(error, AuthenticationError)
    reason = "it rejected the login" if refused else describe_fault(error)
    return LimitsUnreachable(f"Redis at {where} cannot be used: {reason}. Check RETINUE_REDIS_URL.")


_HIT = RedisScript("rate_limit.lua")
_LEASE = RedisScript("lease.lua")
_PREFIX = "retinue:limits"


class RedisStore:
    """The asynchronous counterpart of `MemoryStore`; tests replace Redis's clock with `clock`."""

    is_on_this_machine = False

    def __init__(self, clients: RedisClients, clock: Clock | None = None) -> None:
        """Take clients that do not decode responses: the state is binary."""
        self._clients = clients
        self._client = clients.keys
        self._clock = clock

    @classmethod
    def connect(cls, url: str, *, ca_bundle: Path | None = None, clock: Clock | None = None) -> "RedisStore":
        """Return a store with its own connections, opened on demand."""
        return cls(RedisClients.open(url, ca_bundle), clock)

    async def hit(self, key: str, limits: PlanLimits, cost: int, *, burst: bool = True) -> RateLimitDecision:
        """Charge a request to its plan; a cost of 0 only reads and is never refused."""
        return await self._hit(f"{_PREFIX}:plan:{key}", limits.bursting if burst else limits.steady, cost)

    async def hit_window(
        self, key: str, limit: int | None, window_seconds: int, cost: int = 1
    ) -> RateLimitDecision:
        """Charge a throttle with a single window."""
        return await self._hit(
            f"{_PREFIX}:{window_seconds}:{key}", single_window(limit, window_seconds), cost
        )

    async def _hit(self, name: str, allowance: Allowance, cost: int) -> RateLimitDecision:
        allowed, now, tally = await self._run(name, allowance, cost)
        return tally.admitted(now) if allowed else tally.refused(now, cost)

    async def used(self, key: str) -> WindowUsage:
        # Reading needs the windows, which are the same in every plan.
        _, _, tally = await self._run(f"{_PREFIX}:plan:{key}", PLANS["free"].steady, 0)
        return WindowUsage(*(window.used for window in tally.windows))

    async def _run(self, name: str, allowance: Allowance, cost: int) -> tuple[bool, int, WindowTally]:
        allowed, now, packed = await _HIT.run(self._client, name, cost, self._now(), _rules(allowance))
        return bool(allowed), now, _restored(allowance, packed)

    def _now(self) -> str | int:
        return int(self._clock.time() * 1000) if self._clock else ""

    async def acquire(self, key: str, limit: int | None, lease_id: str, ttl: float) -> bool:
        """Acquire one of `limit` slots for `ttl` seconds; acquiring the same lease again renews it."""
        slots = UNLIMITED if limit is None else limit
        name = f"{_PREFIX}:leases:{key}"
        return bool(await _LEASE.run(self._client, name, self._now(), slots, lease_id, round(ttl * 1000)))

    async def release(self, key: str, lease_id: str) -> None:
        try:
            await self._client.zrem(f"{_PREFIX}:leases:{key}", lease_id)
        except (RedisError, OSError) as error:
            raise _unreachable(self._client, error) from error

    async def ping(self) -> None:
        """Raise `LimitsUnreachable` if Redis does not answer."""
        try:
            await self._client.ping()
        except (RedisError, OSError) as error:
            raise _unreachable(self._client, error) from error

    async def close(self) -> None:
        await self._clients.close()


@lru_cache(maxsize=4096)
def _rules(allowance: Allowance) -> bytes:
    """Encode an allowance for the script."""
    windows = [
        (span, bucket_ms(span), limit) for span, limit in zip(allowance.spans, allowance.limits, strict=True)
    ]
    return msgspec.msgpack.encode([MAX_CLOCK_SETBACK_MS, allowance.ceiling, allowance.burst_ms, *windows])


def _restored(allowance: Allowance, packed: bytes) -> WindowTally:
    since, *windows = msgspec.msgpack.decode(packed)
    tally = WindowTally(allowance)
    tally.since = since
    for window, (used, *buckets) in zip(tally.windows, windows, strict=True):
        window.restore(used, buckets)
    return tally
