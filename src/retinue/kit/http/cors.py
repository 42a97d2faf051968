"""CORS, always without credentials: consoles by a list of origins, public routes from anywhere.

For routes that accept an embed key, the key's own list decides. A preflight carries no key, so it allows any
origin; the actual request then decides whether the page may read the response.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route
from retinue.kit.settings import Settings

Header = tuple[bytes, bytes]

_EXPOSED = (
    b"X-Request-ID, X-Correlation-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    b"X-RateLimit-Scope, X-RateLimit-Window, Retry-After, Location, ETag, Idempotent-Replayed, "
    b"X-Retinue-Warnings, Preference-Applied, X-Should-Retry"
)
_ACCEPTED = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Key, X-Correlation-ID, "
    b"X-Tenant-ID, Last-Event-ID, Prefer"
)
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
    (b"access-control-allow-headers", _ACCEPTED),
    (b"access-control-max-age", b"600"),
]
_VARY = (b"vary", b"Origin")
_PUBLIC_PATHS = ("/api/v1/public/", "/embed/")


class Cors:
    def __init__(self, settings: Settings) -> None:
        own = urlsplit(settings.base_url)
        origins = settings.cors_origins or (f"{own.scheme}://{own.netloc}",)
        # Browsers send scheme and host in lower case; the setting may not be.
        self._allowed = {origin.rstrip("/").lower().encode() for origin in origins}

    def preflight(self, request: Request, routes: Iterable[Route]) -> list[Header]:
        """Return the preflight headers for the routes of one path."""
        origin = request.headers.get(b"origin", b"")
        if request.path.startswith(_PUBLIC_PATHS) or any(route.takes_embed_key for route in routes):
            return _allowing(b"*") + _PREFLIGHT
        return _allowing(origin) + _PREFLIGHT if origin in self._allowed else [_VARY]

    def headers(self, request: Request, origin: bytes) -> list[Header]:
        """Return the CORS headers of a response; without an allowed origin, the browser blocks it."""
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
