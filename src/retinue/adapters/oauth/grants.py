"""The two grants a server can use on its own: its client's credentials, and a refresh token."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote_plus, urlencode

import msgspec

from retinue.adapters.oauth.errors import FailureKind, OAuthFailed
from retinue.adapters.oauth.token import Token, read_answer
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

Grant = Literal["client_credentials", "refresh_token"]
ClientAuth = Literal["basic", "body"]

_MAX_ANSWER_BYTES = 256 * 1024
# What servers say when they did not find, or did not like, how the client introduced itself.
_ABOUT_THE_CLIENT = frozenset({"invalid_client", "invalid_request", "unauthorized_client"})
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
) -> Token:
    """Ask for a token; without `client_auth`, Basic is tried first and the body where that is refused."""
    if grant == "refresh_token" and not refresh_token:
        raise OAuthFailed("invalid_request", "There is no refresh token to use.", permanent=True)
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
            return await _ask_in_turn(egress, request, client_auth, timeout_s)
    except TimeoutError:
        raise OAuthFailed("timeout", "The token endpoint did not answer in time.") from None
    except tuple(_EGRESS_KINDS) as error:
        is_refused = isinstance(error, EgressRefused)
        raise OAuthFailed(_EGRESS_KINDS[type(error)], error.message, permanent=is_refused) from None


async def _ask_in_turn(
    egress: Egress, request: _Request, client_auth: ClientAuth | None, timeout_s: float
) -> Token:
    # A client without a secret only has a name, which belongs in the body.
    if client_auth is not None or not request.client_secret:
        return await _ask(egress, request, client_auth or "body", timeout_s)
    try:
        return await _ask(egress, request, "basic", timeout_s)
    except OAuthFailed as failed:
        if failed.kind not in _ABOUT_THE_CLIENT:
            raise
        refused = failed
    try:
        return await _ask(egress, request, "body", timeout_s)
    except OAuthFailed as failed:
        # A server that knows Basic only finds no client in the body; its first answer is the telling one.
        raise (refused if failed.kind in _ABOUT_THE_CLIENT else failed) from None


async def _ask(egress: Egress, request: _Request, client_auth: ClientAuth, timeout_s: float) -> Token:
    headers, form = _introduced(request, client_auth)
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
        return read_answer(response.status, await response.read(), request.secrets())


def _introduced(request: _Request, client_auth: ClientAuth) -> tuple[dict[str, str], dict[str, str]]:
    """Headers and form of the request, the client's name and secret in the one or the other."""
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
