"""What a token endpoint answers, read with the leniency that real ones need."""

from typing import Any

import msgspec

from retinue.adapters.oauth.errors import REFUSALS, OAuthFailed
from retinue.kit.redaction import Redactor
from retinue.kit.secrets import Secret

_LONGEST_TOKEN = 16 * 1024
_LONGEST_LIFE_S = 10 * 365 * 24 * 3600
_LONGEST_DESCRIPTION = 300
_SHORTEST_SECRET = 8


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """`expires_in_s` is None when the server does not say, or says nonsense."""

    access_token: Secret
    token_type: str
    expires_in_s: int | None
    refresh_token: Secret | None
    scope: str | None


def read_answer(status: int, content: bytes, secrets: list[str]) -> Token:
    """The token, or the failure that status and body together tell of."""
    try:
        fields = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        fields = {}
    # Some servers refuse with status 200.
    if status >= 300 or "error" in fields:
        raise _failure(status, fields, secrets)
    access_token = _token(fields.get("access_token"))
    if access_token is None:
        raise OAuthFailed("invalid_response", "The token endpoint's answer holds no usable access token.")
    return Token(
        access_token=access_token,
        token_type=_short_text(fields.get("token_type")) or "Bearer",
        expires_in_s=_lifetime(fields.get("expires_in")),
        refresh_token=_token(fields.get("refresh_token")),
        scope=_scope(fields.get("scope")),
    )


def _failure(status: int, fields: dict[str, Any], secrets: list[str]) -> OAuthFailed:
    if status == 429:
        return OAuthFailed("rate_limited", "The token endpoint wants to be asked less often.")
    if status == 408 or status >= 500:
        return OAuthFailed("server_error", f"The token endpoint is out of order (status {status}).")
    if 300 <= status < 400:
        message = "The token endpoint answers with a redirect, which is not followed."
        return OAuthFailed("invalid_response", message, permanent=True)
    error = fields.get("error")
    if error in ("temporarily_unavailable", "server_error", "slow_down"):
        return OAuthFailed("server_error", "The token endpoint is out of order for the moment.")
    if error is None and status in {401, 403}:
        error = "invalid_client"
    kind = REFUSALS.get(error, "refused") if isinstance(error, str) else "refused"
    message = f"The token endpoint refused the request: {kind} (status {status})."
    said = _short_text(fields.get("error_description"))
    # A very short secret cannot be told from ordinary words, so that nothing is quoted beside one.
    if said and all(len(secret) >= _SHORTEST_SECRET for secret in secrets):
        message = f"{message} It says: {Redactor(secrets).text(said)[:_LONGEST_DESCRIPTION]}"
    return OAuthFailed(kind, message, permanent=True)


def _token(value: Any) -> Secret | None:
    """Only what can stand in a header."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_TOKEN:
        return None
    return Secret(value) if value.isascii() and value.isprintable() and value == value.strip() else None


def _short_text(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= 4096 and value.isprintable() else None


def _scope(value: Any) -> str | None:
    """A list of words in one text, or, as some send it, in an array."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " ".join(value)
    return _short_text(value)


def _lifetime(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        return None
    return int(min(value, _LONGEST_LIFE_S))
