"""The two grants that need no person: client credentials and refresh tokens."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote_plus, urlencode

import msgspec

from retinue.adapters.oauth.errors import FailureKind, OAuthFailed
from retinue.adapters.oauth.token import OAuthToken, parse_token_response
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

Grant = Literal["client_credentials", "refresh_token"]
ClientAuth = Literal["basic", "body"]

_MAX_ANSWER_BYTES = 256 * 1024
# Errors of servers that did not find or accept the client's authentication.
_CLIENT_ERRORS = frozenset({"invalid_client", "invalid_request", "unauthorized_client"})
_EGRESS_KINDS: dict[type[RetinueError], FailureKind] = {
    EgressRefused: "ssrf_blocked",
    EgressFailed: "network_error",
    EgressTimeout: "timeout",
    ResponseTooLarge: "output_too_large",
}


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    token_url: str
    client_id: str
    client_secret: Secret | None
    grant: Grant
    refresh_token: Secret | None
    scopes: Sequence[str]

    def secrets(self) -> list[str]:
        return [secret.reveal() for secret in (self.client_secret, self.refresh_token) if secret]


async def request_token(
    egress: Egress,
    *,
    token_url: str,
    client_id: str,
    client_secret: Secret | None,
    grant: Grant,
    refresh_token: Secret | None = None,
    scopes: Sequence[str] = (),
    client_auth: ClientAuth | None = None,
    timeout_s: float,
) -> OAuthToken:
    """Request a token; without `client_auth`, Basic is tried first, then the body."""
    if grant == "refresh_token" and not refresh_token:
        raise OAuthFailed("invalid_request", "The refresh token is missing.", permanent=True)
    request = _Request(
        token_url=token_url,
        client_id=client_id,
        client_secret=client_secret,
        grant=grant,
        refresh_token=refresh_token if grant == "refresh_token" else None,
        scopes=scopes,
    )
    try:
        async with asyncio.timeout(timeout_s):
            return await _request_with_fallback(egress, request, client_auth, timeout_s)
    except TimeoutError:
        raise OAuthFailed("timeout", "The token endpoint did not respond in time.") from None
    except tuple(_EGRESS_KINDS) as error:
        is_refused = isinstance(error, EgressRefused)
        raise OAuthFailed(_EGRESS_KINDS[type(error)], error.message, permanent=is_refused) from None


async def _request_with_fallback(
    egress: Egress, request: _Request, client_auth: ClientAuth | None, timeout_s: float
) -> OAuthToken:
    # A client without a secret only has an id, which belongs in the body.
    if client_auth is not None or not request.client_secret:
        return await _request(egress, request, client_auth or "body", timeout_s)
    try:
        return await _request(egress, request, "basic", timeout_s)
    except OAuthFailed as failed:
        if failed.kind not in _CLIENT_ERRORS:
            raise
        refused = failed
    try:
        return await _request(egress, request, "body", timeout_s)
    except OAuthFailed as failed:
        # A server that supports only Basic finds no client in the body, so its first error counts.
        raise (refused if failed.kind in _CLIENT_ERRORS else failed) from None


async def _request(
    egress: Egress, request: _Request, client_auth: ClientAuth, timeout_s: float
) -> OAuthToken:
    headers, form = _client_credentials(request, client_auth)
    async with egress.request(
        "POST",
        request.token_url,
        headers={
            **headers,
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        },
        content=urlencode(form).encode(),
        timeout_s=timeout_s,
        stall_timeout_s=timeout_s,
        max_bytes=_MAX_ANSWER_BYTES,
        require_https=True,
    ) as response:
        return parse_token_response(response.status, await response.read(), request.secrets())


def _client_credentials(request: _Request, client_auth: ClientAuth) -> tuple[dict[str, str], dict[str, str]]:
    """Return headers and form of the request, with the client's id and secret in one of them."""
    form: dict[str, str] = {"grant_type": request.grant}
    if request.refresh_token:
        form["refresh_token"] = request.refresh_token.reveal()
    if request.scopes:
        form["scope"] = " ".join(request.scopes)
    secret = request.client_secret.reveal() if request.client_secret else ""
    if client_auth == "basic":
        pair = f"{quote_plus(request.client_id)}:{quote_plus(secret)}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}, form
    form["client_id"] = request.client_id
    if secret:
        form["client_secret"] = secret
    return {}, form
