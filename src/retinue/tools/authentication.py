"""What lets a tool's call in: its own `auth_config`, or a credential of the vault."""

import base64
from typing import Any

import msgspec

from retinue.adapters.databases import find_db_type
from retinue.credentials import destinations, refreshing
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
    TokenNotRenewed,
)
from retinue.credentials.kinds import KINDS
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.sealing import stored_secrets
from retinue.credentials.use import Opened, Purpose, use
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused, check_headers
from retinue.tools import access_tokens
from retinue.tools.access_tokens import required
from retinue.tools.calls import Authentication, Call
from retinue.tools.configuration import destination_of
from retinue.tools.errors import ExecutionFailed
from retinue.tools.models import AuthType, Tool, ToolType

Granted = tuple[Authentication, list[str]]
"""What lets a call in, and every text of it that must not come back."""

_DEFAULT_KEY_HEADER = "X-API-Key"
# Credentials that are one value; the tool says how it is sent.
_VALUES = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.oauth2: "access_token",
}


async def resolve(
    ctx: Context,
    tool: Tool,
    config: dict[str, Any],
    *,
    via: dict[str, str],
    destination: str,
) -> Granted:
    """What lets this tool in; a secret goes nowhere but where it was entered for."""
    try:
        if tool.credential_id is not None:
            if tool.tool_type is ToolType.database and not config.get("host"):
                destination = await _own_server(ctx, tool.credential_id, config)
            opened = await use(ctx, tool.credential_id, Purpose(via=via, destination=destination))
            granted = _from_credential(ctx, tool, opened)
        elif tool.auth_type is AuthType.none:
            return Authentication(), []
        else:
            if tool.auth_config is not None:
                destinations.require(entered_for=tool.auth_destination, effective=destination)
            granted = await _from_own(ctx, tool)
        check_headers(granted[0].headers)
    except (CredentialAccessDenied, CredentialUnusable, DestinationChanged) as error:
        raise ExecutionFailed(error.code, error.message) from None
    except CredentialNotFound as error:
        raise ExecutionFailed("not_configured", error.message) from None
    except EgressRefused as error:
        raise ExecutionFailed("auth_error", error.message) from None
    return granted


async def renew(call: Call) -> bool:
    """Give a call whose token was refused a new one; whether that was possible."""
    if call.tool.credential_id is not None:
        return await _renew_credential(call, call.tool.credential_id)
    if call.tool.auth_type is not AuthType.oauth2:
        return False
    refused = call.authentication.headers["Authorization"].removeprefix("Bearer ")
    token = await access_tokens.current(call.ctx, call.tool.id, _own(call.ctx, call.tool), refused=refused)
    call.redactor.add(token)
    call.authentication = _bearer(token)
    return True


async def _renew_credential(call: Call, credential_id: str) -> bool:
    """The server may end a token of the vault before its time; then a new one is asked for, unless it was."""
    refused = call.authentication.headers.get("Authorization", "").removeprefix("Bearer ")
    async with call.ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
        if credential is None or credential.type is not CredentialType.oauth2:
            return False
        is_current = stored_secrets(unit, credential).get("access_token") == refused
    try:
        if is_current:
            await refreshing.renew(call.ctx, credential_id, is_forced=True)
    except TokenNotRenewed:
        return False
    destination = destination_of(call.tool.tool_type, call.config)
    call.authentication, hidden = await resolve(
        call.ctx, call.tool, call.config, via=call.via, destination=destination
    )
    call.redactor.add(*hidden)
    return True


async def _from_own(ctx: Context, tool: Tool) -> Granted:
    own = _own(ctx, tool)
    match tool.auth_type:
        case AuthType.api_key:
            key = required(own, "api_key_value", "api_key")
            return _api_key(key, own), [key]
        case AuthType.bearer:
            token = required(own, "token")
            return _bearer(token), [token]
        case AuthType.basic:
            return _basic(required(own, "username"), str(own.get("password") or ""))
        case AuthType.oauth2:
            token = await access_tokens.current(ctx, tool.id, own)
            return _bearer(token), [token, required(own, "client_secret")]
        case _:
            return _custom(tool, own)


def _from_credential(ctx: Context, tool: Tool, opened: Opened) -> Granted:
    secrets = opened.secrets
    if opened.type in _VALUES:
        value = secrets.get(_VALUES[opened.type])
        if not value:
            raise ExecutionFailed("auth_error", f"The credential has no {_VALUES[opened.type]}.")
        is_key = opened.type is CredentialType.api_key
        is_sent_as_key = tool.auth_type is AuthType.api_key or (
            is_key and tool.auth_type not in {AuthType.bearer, AuthType.oauth2}
        )
        granted = _api_key(value, _own(ctx, tool)) if is_sent_as_key else _bearer(value)
        return granted, opened.hidden
    if opened.type is CredentialType.basic_auth:
        authentication, hidden = _basic(secrets["username"], secrets["password"])
        return authentication, [*opened.hidden, *hidden]
    if "host" not in KINDS[opened.type].destination:
        # Anyone may change it there and would have the rest sent to himself; the tool has to say where to go.
        secrets = {name: value for name, value in secrets.items() if name not in {"host", "port"}}
    authentication, hidden = _custom(tool, secrets)
    return authentication, [*opened.hidden, *hidden]


async def _own_server(ctx: Context, credential_id: str, config: dict[str, Any]) -> str:
    """Where a database credential says its server is, for a tool that does not say it."""
    async with ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
    db_type = find_db_type(str(config.get("db_type", "")))
    places = credential.destinations if credential else []
    return next((place for place in places if place.startswith(f"{db_type}://")), "")


def _own(ctx: Context, tool: Tool) -> dict[str, Any]:
    if tool.auth_config is None:
        return {}
    own: dict[str, Any] = msgspec.json.decode(tool.auth_config.open(ctx.instance.ring))
    return own


def _api_key(key: str, options: dict[str, Any]) -> Authentication:
    name = options.get("api_key_header") or _DEFAULT_KEY_HEADER
    if options.get("api_key_location") == "query":
        return Authentication(query={name: key})
    return Authentication(headers={name: key})


def _bearer(token: str) -> Authentication:
    return Authentication(headers={"Authorization": f"Bearer {token}"})


def _basic(username: str, password: str) -> Granted:
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    authentication = Authentication(
        headers={"Authorization": f"Basic {encoded}"},
        secrets={"username": username, "password": password},
    )
    return authentication, [password, encoded]


def _custom(tool: Tool, secrets: dict[str, Any]) -> Granted:
    """Headers and query parameters under names of one's own; a database takes its login from the rest."""
    headers, query = _texts(secrets.get("headers")), _texts(secrets.get("query"))
    if not headers and not query and tool.tool_type is not ToolType.database:
        code = "not_configured" if tool.credential_id is None else "auth_error"
        raise ExecutionFailed(code, "These secrets have neither headers nor query parameters to send.")
    hidden = [
        part for text in (*headers.values(), *query.values()) for part in (text, text.partition(" ")[2])
    ]
    hidden.append(str(secrets.get("password") or ""))
    return Authentication(headers=headers, query=query, secrets=secrets), hidden


def _texts(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        return {}
    return {str(name): str(value) for name, value in given.items() if value is not None}
