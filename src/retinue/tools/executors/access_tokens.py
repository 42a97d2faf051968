"""OAuth 2 access tokens of tools (client credentials), cached in memory until shortly before they expire."""

import asyncio
import hashlib
from dataclasses import dataclass, field

import msgspec

from retinue.adapters.oauth import OAuthFailed, request_token
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.tools.errors import ExecutionFailed

_REQUIRED_KEYS = ("token_url", "client_id", "client_secret")
_CODES = {"ssrf_blocked": "ssrf_blocked", "network_error": "network_error", "timeout": "network_error"}
_TIMEOUT_SECONDS = 10
_RENEW_BEFORE_SECONDS = 60
# For servers that send no lifetime.
_DEFAULT_LIFETIME_SECONDS = 300
_MAX_CACHED_TOKENS = 10_000


@dataclass
class _CachedToken:
    """A tool's token and the fingerprint of its `auth_config`; the lock's holder requests the next one."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    fingerprint: bytes = b""
    token: Secret = field(default_factory=lambda: Secret(""))
    renew_at: float = 0.0


class TokenCache:
    """Tokens of an instance by tool; the least recently used are evicted."""

    def __init__(self) -> None:
        self._cached: dict[str, _CachedToken] = {}

    def entry_for(self, tool_id: str) -> _CachedToken:
        cached = self._cached.pop(tool_id) if tool_id in self._cached else _CachedToken()
        self._cached[tool_id] = cached
        if len(self._cached) > _MAX_CACHED_TOKENS:
            del self._cached[next(iter(self._cached))]
        return cached


async def current(ctx: Context, tool_id: str, auth_config: JsonObject, *, refused: str = "") -> str:
    """Return the cached token, or a new one if it expires soon, was `refused` or `auth_config` changed."""
    cache = ctx.state(TokenCache)
    cached = cache.entry_for(tool_id)
    fingerprint = hashlib.sha256(msgspec.json.encode(auth_config, order="sorted")).digest()
    async with cached.lock:
        is_usable = cached.fingerprint == fingerprint and ctx.clock.monotonic() < cached.renew_at
        if not is_usable or cached.token.reveal() == refused:
            cached.token, lifetime_s = await _request_token(ctx, auth_config)
            cached.fingerprint = fingerprint
            cached.renew_at = ctx.clock.monotonic() + max(lifetime_s - _RENEW_BEFORE_SECONDS, lifetime_s / 2)
        return cached.token.reveal()


async def _request_token(ctx: Context, auth_config: JsonObject) -> tuple[Secret, int]:
    token_url, client_id, client_secret = (require_text(auth_config, name) for name in _REQUIRED_KEYS)
    scope = auth_config.get("scope")
    try:
        token = await request_token(
            ctx.adapter(Egress),
            token_url=token_url,
            client_id=client_id,
            client_secret=Secret(client_secret),
            grant="client_credentials",
            scopes=scope.split() if isinstance(scope, str) else (),
            timeout_s=_TIMEOUT_SECONDS,
        )
    except OAuthFailed as failed:
        raise ExecutionFailed(_CODES.get(failed.kind, "auth_error"), failed.message) from None
    return token.access_token, token.expires_in_s or _DEFAULT_LIFETIME_SECONDS


def require_text(auth_config: JsonObject, *names: str) -> str:
    """Return the text under the first of these names that is present in `auth_config`."""
    for name in names:
        value = auth_config.get(name)
        if isinstance(value, str) and value:
            return value
    raise ExecutionFailed("not_configured", f"auth_config.{names[0]} is required.")
