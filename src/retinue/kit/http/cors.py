"""Which other origins may call, never with credentials: consoles by a list, public routes from anywhere.

Where an embed key is taken, its own list decides. A preflight carries no key, so it is answered for any
origin, and the call itself decides whether its page may read the answer.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route
from retinue.kit.settings import Settings

Header = tuple[bytes, bytes]

_EXPOSED = (
    b"X-Request-ID, X-Correlation-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    b"X-RateLimit-Window, Retry-After, Location, Idempotent-Replayed"
)
_TAKEN = (
    b"Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Correlation-ID, X-Tenant-ID, Last-Event-ID"
)
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
    (b"access-control-allow-headers", _TAKEN),
    (b"access-control-max-age", b"600"),
]
_VARY = (b"vary", b"Origin")
_PUBLIC_PATHS = ("/api/v1/public/", "/embed/")


class Cors:
    def __init__(self, settings: Settings) -> None:
        own = urlsplit(settings.base_url)
        origins = settings.cors_origins or (f"{own.scheme}://{own.netloc}",)
        # A browser writes scheme and host in small letters, whoever wrote the setting may not.
        self._allowed = {origin.rstrip("/").lower().encode() for origin in origins}

    def preflight(self, request: Request, routes: Iterable[Route]) -> list[Header]:
        """What a browser may send to these routes, which are those of one path."""
        origin = request.headers.get(b"origin", b"")
        if request.path.startswith(_PUBLIC_PATHS) or any(route.takes_embed_key for route in routes):
            return _allowing(b"*") + _PREFLIGHT
        return _allowing(origin) + _PREFLIGHT if origin in self._allowed else [_VARY]

    def headers(self, request: Request, origin: bytes) -> list[Header]:
        """A refused origin gets no header at all, and the browser does the rest."""
        route = request.route
        is_open = request.path.startswith(_PUBLIC_PATHS) and (route is None or not route.takes_embed_key)
        if is_open:
            return _allowing(b"*")
        return _allowing(origin) if request.origin_is_allowed or origin in self._allowed else [_VARY]


def _allowing(origin: bytes) -> list[Header]:
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        _VARY,
    ]
