"""Lenient parsing of a token endpoint's response."""

import msgspec

from retinue.adapters.oauth.errors import REFUSALS, OAuthFailed
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import Redactor

_MAX_TOKEN_LENGTH = 16 * 1024
_MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3600
_MAX_DESCRIPTION_LENGTH = 300
_MIN_SECRET_LENGTH = 8


class OAuthToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token; `expires_in_s` is None if the server does not send a valid lifetime."""

    access_token: Secret
    token_type: str
    expires_in_s: int | None
    refresh_token: Secret | None
    scope: str | None


def parse_token_response(status: int, content: bytes, secrets: list[str]) -> OAuthToken:
    """Return the token, or raise the failure given by status and body."""
    try:
        fields = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        fields = {}
    # Some servers report errors with status 200.
    if status >= 300 or "error" in fields:
        raise _failure(status, fields, secrets)
    access_token = _token(fields.get("access_token"))
    if access_token is None:
        raise OAuthFailed(
            "invalid_response", "The token endpoint's response contains no usable access token."
        )
    return OAuthToken(
        access_token=access_token,
        token_type=_short_text(fields.get("token_type")) or "Bearer",
        expires_in_s=_lifetime(fields.get("expires_in")),
        refresh_token=_token(fields.get("refresh_token")),
        scope=_scope(fields.get("scope")),
    )


def _failure(status: int, fields: JsonObject, secrets: list[str]) -> OAuthFailed:
    if status == 429:
        return OAuthFailed("rate_limited", "The token endpoint's rate limit is reached. Try again later.")
    if status == 408 or status >= 500:
        return OAuthFailed("server_error", f"The token endpoint failed (status {status}). Try again later.")
    if 300 <= status < 400:
        message = "The token endpoint responded with a redirect, which is not followed."
        return OAuthFailed("invalid_response", message, permanent=True)
    error = fields.get("error")
    if error in ("temporarily_unavailable", "server_error", "slow_down"):
        return OAuthFailed("server_error", "The token endpoint is temporarily unavailable. Try again later.")
    if error is None and status in {401, 403}:
        error = "invalid_client"
    kind = REFUSALS.get(error, "refused") if isinstance(error, str) else "refused"
    message = f"The token endpoint rejected the request: {kind} (status {status})."
    description = _short_text(fields.get("error_description"))
    # A very short secret looks like an ordinary word, so nothing is quoted then.
    if description and all(len(secret) >= _MIN_SECRET_LENGTH for secret in secrets):
        message = f"{message} It says: {Redactor(secrets).text(description)[:_MAX_DESCRIPTION_LENGTH]}"
    return OAuthFailed(kind, message, permanent=True)


def _token(value: object) -> Secret | None:
    """Return the token if it is allowed in a header, else None."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_TOKEN_LENGTH:
        return None
    return Secret(value) if value.isascii() and value.isprintable() and value == value.strip() else None


def _short_text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= 4096 and value.isprintable() else None


def _scope(value: object) -> str | None:
    """Return the scope; some servers send an array instead of one string."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " ".join(value)
    return _short_text(value)


def _lifetime(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        return None
    return int(min(value, _MAX_LIFETIME_SECONDS))
