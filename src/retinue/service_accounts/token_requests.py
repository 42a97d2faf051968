"""Requests for tokens (RFC 6749): a form or JSON, with the client's secret in it or in the header."""

import base64
import binascii
import json
from typing import NoReturn
from urllib.parse import parse_qsl, unquote_plus

import msgspec

from retinue.kit.errors import RetinueError
from retinue.kit.http.bodies import check_json_shape, read_body
from retinue.kit.http.request import Request
from retinue.service_accounts.errors import (
    InvalidBasicClient,
    InvalidClient,
    InvalidTokenRequest,
    UnsupportedGrantType,
)

GRANT_TYPE = "client_credentials"
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_MAX_BODY_BYTES = 16 * 1024
_MAX_PARAMETERS = 50


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a request that matter; empty texts are missing ones."""

    client_id: str
    client_secret: str
    scope: str
    uses_basic: bool


async def read_token_request(request: Request) -> TokenRequest:
    """Return the request; raise an error of RFC 6749 if it is malformed or lacks a secret."""
    parameters = await _read_parameters(request)
    if "grant_type" not in parameters:
        _refuse(request, "Send `grant_type=client_credentials`.")
    if parameters["grant_type"] != GRANT_TYPE:
        raise UnsupportedGrantType(request.request_id)
    in_body = TokenRequest(
        client_id=parameters.get("client_id", ""),
        client_secret=parameters.get("client_secret", ""),
        scope=parameters.get("scope", ""),
        uses_basic=False,
    )
    if b"authorization" in request.headers:
        return _with_header(request, in_body)
    if not in_body.client_id or not in_body.client_secret:
        raise InvalidClient(request.request_id)
    return in_body


def _with_header(request: Request, in_body: TokenRequest) -> TokenRequest:
    """Return the request with the client of its `Authorization: Basic` header."""
    client_id, client_secret = _read_basic(request)
    # RFC 6749, section 2.3: a client uses one method in each request. Its id alone is none.
    if in_body.client_secret or in_body.client_id not in {"", client_id}:
        _refuse(request, "Send the client's secret in the Authorization header or in the body, not in both.")
    return TokenRequest(
        client_id=client_id, client_secret=client_secret, scope=in_body.scope, uses_basic=True
    )


def _read_basic(request: Request) -> tuple[str, str]:
    scheme, _, encoded = request.header(b"authorization").partition(" ")
    try:
        decoded = (
            base64.b64decode(encoded.strip(), validate=True).decode() if scheme.lower() == "basic" else ""
        )
    except (binascii.Error, ValueError):
        decoded = ""
    user, colon, password = decoded.partition(":")
    # RFC 6749, section 2.3.1: both are encoded as in a form before they are joined.
    client_id, client_secret = unquote_plus(user), unquote_plus(password)
    if not colon or not client_id or not client_secret:
        raise InvalidBasicClient(request.request_id)
    return client_id, client_secret


async def _read_parameters(request: Request) -> dict[str, str]:
    media_type = request.header(b"content-type").partition(";")[0].strip().lower()
    if media_type not in {_FORM, _JSON}:
        _refuse(request, f"Send the parameters as {_FORM} or as {_JSON}.")
    try:
        body = await read_body(request.receive, _MAX_BODY_BYTES, request.headers.get(b"content-length"))
        if media_type == _JSON:
            check_json_shape(body)
            pairs = _read_json(body)
        else:
            pairs = parse_qsl(
                body.decode(), keep_blank_values=True, max_num_fields=_MAX_PARAMETERS, errors="strict"
            )
    except (RetinueError, ValueError, RecursionError):
        _refuse(request, "The body cannot be read.")
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        _refuse(request, "A parameter is given twice.")
    if any("\0" in name or "\0" in value for name, value in pairs):
        _refuse(request, "A parameter contains the character U+0000.")
    # RFC 6749, section 3.2: a parameter without a value counts as missing.
    return {name: value for name, value in parameters.items() if value}


def _read_json(body: bytes) -> list[tuple[str, str]]:
    """Return the members of a JSON object as a list, so that duplicates show; else raise `ValueError`."""
    pairs = json.loads(body, object_pairs_hook=list)
    if not isinstance(pairs, list) or not body.lstrip().startswith(b"{"):
        raise ValueError("no object")
    if any(not isinstance(value, str) for _, value in pairs):
        raise ValueError("a value is no text")
    # JSON can name half a character (a lone surrogate), which nothing can store or hash.
    "".join(value for _, value in pairs).encode()
    return pairs


def _refuse(request: Request, message: str) -> NoReturn:
    raise InvalidTokenRequest(request.request_id, message) from None
