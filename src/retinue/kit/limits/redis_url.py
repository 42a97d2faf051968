"""The setting `RETINUE_REDIS_URL`: a Redis server, or a service whose servers Sentinel watches.

redis://[user:password@]host[:port][/db]       rediss:// is the same with TLS
redis+sentinel://[user:password@]host[:port],host[:port]…/service[/db]
[?sentinel_username=…&sentinel_password=…]  rediss+sentinel:// uses TLS for the sentinels as well
"""

import re
from urllib.parse import parse_qsl, urlencode

import msgspec

_SERVER_SCHEMES = {"redis", "rediss", "unix"}
_SENTINEL_SCHEMES = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
_SENTINEL_PORT = 26379
_SENTINEL_FORM = "redis+sentinel://<host>:<port>,<host>:<port>/<service>/<db>"
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_SERVICE = re.compile(r"[A-Za-z0-9._-]+")


class RedisUrl(msgspec.Struct, frozen=True, kw_only=True):
    """`server` is the URL of a server; with sentinels, its host is the one that they name."""

    server: str
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""
    sentinel_username: str | None = None
    sentinel_password: str | None = None

    @property
    def is_tls(self) -> bool:
        return self.server.startswith("rediss://")


def parse_redis_url(text: str) -> RedisUrl:
    """Raise ValueError for what no client could use; its text never quotes the URL, which has a password."""
    scheme, _, rest = text.partition("://")
    if scheme in _SERVER_SCHEMES and rest:
        return RedisUrl(server=text)
    if scheme not in _SENTINEL_SCHEMES:
        raise ValueError("must start with redis://, rediss://, redis+sentinel:// or rediss+sentinel://")
    location, _, query = rest.partition("?")
    login, at, location = location.rpartition("@")
    hosts, _, path = location.partition("/")
    service, _, db = path.partition("/")
    if not _SERVICE.fullmatch(service) or not (db == "" or (db.isascii() and db.isdigit())):
        raise ValueError(f"must look like {_SENTINEL_FORM}")
    options = dict(parse_qsl(query, keep_blank_values=True))
    username, password = (options.pop(f"sentinel_{name}", None) for name in ("username", "password"))
    more = f"?{urlencode(options)}" if options else ""
    return RedisUrl(
        server=f"{_SENTINEL_SCHEMES[scheme]}://{login}{at}{service}/{db or 0}{more}",
        sentinels=tuple(_parse_host(host) for host in hosts.split(",")),
        service=service,
        sentinel_username=username,
        sentinel_password=password,
    )


def redis_url(text: str) -> str:
    """Return a setting that `parse_redis_url` accepts."""
    if text:
        parse_redis_url(text)
    return text


def _parse_host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    if match is None or int(match["port"] or _SENTINEL_PORT) > 65535:
        raise ValueError(f"must look like {_SENTINEL_FORM}")
    return match["host"].strip("[]"), int(match["port"] or _SENTINEL_PORT)
