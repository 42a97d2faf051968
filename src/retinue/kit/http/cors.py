"""Which other origins may call: consoles by a list, public routes from anywhere, never with credentials."""

from urllib.parse import urlsplit

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
_PUBLIC_PATHS = ("/api/v1/public/", "/embed/")


class Cors:
    def __init__(self, settings: Settings) -> None:
        own = urlsplit(settings.base_url)
        origins = settings.cors_origins or (f"{own.scheme}://{own.netloc}",)
        # A browser writes scheme and host in small letters, whoever wrote the setting may not.
        self._allowed = {origin.rstrip("/").lower().encode() for origin in origins}

    def headers(self, path: str, origin: bytes, *, preflight: bool = False) -> list[Header]:
        """A refused origin gets no header at all, and the browser does the rest."""
        is_public = path.startswith(_PUBLIC_PATHS)
        if not is_public and origin not in self._allowed:
            return [(b"vary", b"Origin")]
        headers = [
            (b"access-control-allow-origin", b"*" if is_public else origin),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"Origin"),
        ]
        return headers + _PREFLIGHT if preflight else headers
