"""OAuth 2 access tokens of tools (client credentials): kept in memory until shortly before they end."""

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import Any

import msgspec

from retinue.adapters.oauth import OAuthFailed, request_token
from retinue.kit.context import Context
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.tools.errors import ExecutionFailed

_NEEDED = ("token_url", "client_id", "client_secret")
_CODES = {"ssrf_blocked": "ssrf_blocked", "network_error": "network_error", "timeout": "network_error"}
_PATIENCE_S = 10
_BEFORE_END_S = 60
# For servers that do not say how long a token lasts.
_USUAL_LIFETIME_S = 300
_MOST_KEPT = 10_000


@dataclass
class _Kept:
    """The token of one tool and what it was asked for with; who holds the lock asks for the next one."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    fingerprint: bytes = b""
    token: Secret = field(default_factory=lambda: Secret(""))
    renew_at: float = 0.0


class TokenCache:
    """The tokens of an instance by tool; those used longest ago go when there are too many."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def of(self, tool_id: str) -> _Kept:
        kept = self._kept.pop(tool_id) if tool_id in self._kept else _Kept()
        self._kept[tool_id] = kept
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return kept


async def current(ctx: Context, tool_id: str, own: dict[str, Any], *, refused: str = "") -> str:
    """The tool's token: the one at hand unless it ends soon, was `refused` or is of another `auth_config`."""
    cache: TokenCache = ctx.instance.adapters.setdefault(TokenCache, TokenCache())
    kept = cache.of(tool_id)
    fingerprint = hashlib.sha256(msgspec.json.encode(own, order="sorted")).digest()
    async with kept.lock:
        is_usable = kept.fingerprint == fingerprint and ctx.clock.monotonic() < kept.renew_at
        if not is_usable or kept.token.reveal() == refused:
            kept.token, lifetime_s = await _ask(ctx, own)
            kept.fingerprint = fingerprint
            kept.renew_at = ctx.clock.monotonic() + max(lifetime_s - _BEFORE_END_S, lifetime_s / 2)
        return kept.token.reveal()


async def _ask(ctx: Context, own: dict[str, Any]) -> tuple[Secret, int]:
    token_url, client_id, client_secret = (required(own, name) for name in _NEEDED)
    scope = own.get("scope")
    try:
        token = await request_token(
            ctx.adapter(Egress),
            token_url=token_url,
            client_id=client_id,
            client_secret=Secret(client_secret),
            grant="client_credentials",
            scopes=scope.split() if isinstance(scope, str) else (),
            timeout_s=_PATIENCE_S,
        )
    except OAuthFailed as failed:
        raise ExecutionFailed(_CODES.get(failed.kind, "auth_error"), failed.message) from None
    return token.access_token, token.expires_in_s or _USUAL_LIFETIME_S


def required(own: dict[str, Any], *names: str) -> str:
    """The text that `auth_config` has under the first of these names that is there."""
    for name in names:
        value = own.get(name)
        if isinstance(value, str) and value:
            return value
    raise ExecutionFailed("not_configured", f"auth_config.{names[0]} is required.")
