"""Clients of Redis: of one server, or of the server that Sentinel has promoted, with or without TLS."""

from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as BrokenConnection

from retinue.kit.limits.redis_url import RedisUrl, parse_redis_url

_TIMEOUT_SECONDS = 1.0


class RedisClients:
    """A client for the keys, and the clients of the sentinels behind it."""

    def __init__(self, keys: Redis, sentinel: Sentinel | None = None) -> None:
        self.keys = keys
        self._sentinel = sentinel

    @classmethod
    def open(cls, url: str, ca_bundle: Path | None) -> "RedisClients":
        """Return clients that connect on demand; TLS trusts the system's authorities and the bundle's."""
        parsed = parse_redis_url(url)
        # One immediate retry covers a connection that broke while idle; after a timeout, it could charge a
        # request twice. The Limiter bounds a request's wait; these timeouts only end calls it has abandoned.
        options: dict[str, Any] = {
            "socket_timeout": _TIMEOUT_SECONDS,
            "socket_connect_timeout": _TIMEOUT_SECONDS,
            "retry": Retry(NoBackoff(), 1, supported_errors=(BrokenConnection,)),
        }
        if parsed.is_tls and ca_bundle is not None:
            options["ssl_ca_certs"] = str(ca_bundle)
        if not parsed.sentinels:
            return cls(Redis.from_url(parsed.server, **options))
        return cls._watched(parsed, options)

    @classmethod
    def _watched(cls, url: RedisUrl, options: dict[str, Any]) -> "RedisClients":
        """Every new connection asks the sentinels, so a promoted server is found without a restart."""
        server = {**options, **parse_url(url.server)}
        for name in ("host", "port", "connection_class"):
            server.pop(name, None)
        if url.is_tls:
            server["ssl"] = True
        shared = {
            name: value for name, value in server.items() if name.startswith(("ssl", "socket_", "retry"))
        }
        login = {"username": url.sentinel_username, "password": url.sentinel_password}
        sentinel = Sentinel(  # type: ignore[no-untyped-call]
            url.sentinels, sentinel_kwargs={**shared, **login}, **server
        )
        return cls(sentinel.master_for(url.service), sentinel)

    async def close(self) -> None:
        await self.keys.aclose()
        if self._sentinel is not None:
            await self._sentinel.aclose()
