"""Authentication of a tool's calls, from its own `auth_config` or a credential of the vault."""

import base64

import msgspec

from retinue.adapters.databases import find_db_type
from retinue.credentials import destinations, token_refresh
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
    TokenNotRenewed,
)
from retinue.credentials.kinds import KINDS
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.sealed_secrets import decrypt_secrets
from retinue.credentials.secret_access import CredentialPurpose, OpenedCredential, open_credential
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused, check_headers
from retinue.kit.json_types import JsonObject
from retinue.tools.config.configuration import destination_of
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import access_tokens
from retinue.tools.executors.access_tokens import require_text
from retinue.tools.executors.call import Authentication, ExecutorCall
from retinue.tools.models import AuthType, Tool, ToolType

GrantedAuth = tuple[Authentication, list[str]]
"""The authentication of a call, and every text of it that must be redacted."""

_DEFAULT_KEY_HEADER = "X-API-Key"
# Credentials with a single value; the tool decides how it is sent.
_SECRET_KEYS = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.oauth2: "access_token",
}


async def resolve(
    ctx: Context,
    tool: Tool,
    config: JsonObject,
    *,
    via: dict[str, str],
    destination: str,
) -> GrantedAuth:
    """Return the tool's authentication; secrets are sent only where they were entered for (ADR 8)."""
    try:
        if tool.credential_id is not None:
            if tool.tool_type is ToolType.database and not config.get("host"):
                destination = await _credential_server(ctx, tool.credential_id, config)
            opened = await open_credential(
                ctx, tool.credential_id, CredentialPurpose(via=via, destination=destination)
            )
            granted = _from_credential(ctx, tool, opened)
        elif tool.auth_type is AuthType.none:
            return Authentication(), []
        else:
            if tool.auth_config is not None:
                destinations.require_same_destination(
                    entered_for=tool.auth_destination, effective=destination
                )
            granted = await _from_auth_config(ctx, tool)
        check_headers(granted[0].headers)
    except (CredentialAccessDenied, CredentialUnusable, DestinationChanged) as error:
        raise ExecutionFailed(error.code, error.message) from None
    except CredentialNotFound as error:
        raise ExecutionFailed("not_configured", error.message) from None
    except EgressRefused as error:
        raise ExecutionFailed("auth_error", error.message) from None
    return granted


async def renew(call: ExecutorCall) -> bool:
    """Give a call whose token was refused a new one; return whether that was possible."""
    if call.tool.credential_id is not None:
        return await _renew_credential(call, call.tool.credential_id)
    if call.tool.auth_type is not AuthType.oauth2:
        return False
    refused = call.authentication.headers["Authorization"].removeprefix("Bearer ")
    token = await access_tokens.current(
        call.ctx, call.tool.id, _open_auth_config(call.ctx, call.tool), refused=refused
    )
    call.redactor.add(token)
    call.authentication = _bearer(token)
    return True


async def _renew_credential(call: ExecutorCall, credential_id: str) -> bool:
    """Renew a vault token that its server ended early, unless another call has renewed it already."""
    refused = call.authentication.headers.get("Authorization", "").removeprefix("Bearer ")
    async with call.ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
        if credential is None or credential.type is not CredentialType.oauth2:
            return False
        is_current = decrypt_secrets(unit, credential).get("access_token") == refused
    try:
        if is_current:
            await token_refresh.renew(call.ctx, credential_id, is_forced=True)
    except TokenNotRenewed:
        return False
    destination = destination_of(call.tool.tool_type, call.config)
    call.authentication, hidden = await resolve(
        call.ctx, call.tool, call.config, via=call.via, destination=destination
    )
    call.redactor.add(*hidden)
    return True


async def _from_auth_config(ctx: Context, tool: Tool) -> GrantedAuth:
    own_config = _open_auth_config(ctx, tool)
    match tool.auth_type:
        case AuthType.api_key:
            key = require_text(own_config, "api_key_value", "api_key")
            return _api_key(key, own_config), [key]
        case AuthType.bearer:
            token = require_text(own_config, "token")
            return _bearer(token), [token]
        case AuthType.basic:
            return _basic(require_text(own_config, "username"), str(own_config.get("password") or ""))
        case AuthType.oauth2:
            token = await access_tokens.current(ctx, tool.id, own_config)
            return _bearer(token), [token, require_text(own_config, "client_secret")]
        case _:
            return _custom(tool, own_config)


def _from_credential(ctx: Context, tool: Tool, opened: OpenedCredential) -> GrantedAuth:
    secrets = opened.secrets
    if opened.type in _SECRET_KEYS:
        value = secrets.get(_SECRET_KEYS[opened.type])
        if not value:
            raise ExecutionFailed("auth_error", f"The credential has no {_SECRET_KEYS[opened.type]}.")
        is_key = opened.type is CredentialType.api_key
        is_sent_as_key = tool.auth_type is AuthType.api_key or (
            is_key and tool.auth_type not in {AuthType.bearer, AuthType.oauth2}
        )
        granted = _api_key(value, _open_auth_config(ctx, tool)) if is_sent_as_key else _bearer(value)
        return granted, opened.hidden
    if opened.type is CredentialType.basic_auth:
        authentication, hidden = _basic(secrets["username"], secrets["password"])
        return authentication, [*opened.hidden, *hidden]
    if "host" not in KINDS[opened.type].destination:
        # ADR 8: this type does not bind `host`, so changing it would redirect the secrets; the tool names it.
        secrets = {name: value for name, value in secrets.items() if name not in {"host", "port"}}
    authentication, hidden = _custom(tool, secrets)
    return authentication, [*opened.hidden, *hidden]


async def _credential_server(ctx: Context, credential_id: str, config: JsonObject) -> str:
    """Return the server that a database credential names, for a tool without a `host`."""
    async with ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
    db_type = find_db_type(str(config.get("db_type", "")))
    servers = credential.destinations if credential else []
    return next((server for server in servers if server.startswith(f"{db_type}://")), "")


def _open_auth_config(ctx: Context, tool: Tool) -> JsonObject:
    if tool.auth_config is None:
        return {}
    own_config: JsonObject = msgspec.json.decode(tool.auth_config.open(ctx.instance.ring))
    return own_config


def _api_key(key: str, options: JsonObject) -> Authentication:
    name = options.get("api_key_header") or _DEFAULT_KEY_HEADER
    if options.get("api_key_location") == "query":
        return Authentication(query={name: key})
    return Authentication(headers={name: key})


def _bearer(token: str) -> Authentication:
    return Authentication(headers={"Authorization": f"Bearer {token}"})


def _basic(username: str, password: str) -> GrantedAuth:
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    authentication = Authentication(
        headers={"Authorization": f"Basic {encoded}"},
        secrets={"username": username, "password": password},
    )
    return authentication, [password, encoded]


def _custom(tool: Tool, secrets: JsonObject) -> GrantedAuth:
    """Return custom headers and query parameters; a database takes its login from the secrets."""
    headers, query = _texts(secrets.get("headers")), _texts(secrets.get("query"))
    if not headers and not query and tool.tool_type is not ToolType.database:
        code = "not_configured" if tool.credential_id is None else "auth_error"
        raise ExecutionFailed(code, "The secrets have neither headers nor query parameters. Add one of them.")
    hidden = [
        part for text in (*headers.values(), *query.values()) for part in (text, text.partition(" ")[2])
    ]
    hidden.append(str(secrets.get("password") or ""))
    return Authentication(headers=headers, query=query, secrets=secrets), hidden


def _texts(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        return {}
    return {str(name): str(value) for name, value in values.items() if value is not None}
