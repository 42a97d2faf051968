"""`auth_config`: encrypted at once, never returned, and bound to its destination (ADR 8)."""

from typing import Annotated, Literal

import msgspec

from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.kit.ignored_fields import report_unknown_keys
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import parse_config
from retinue.tools.config.known_keys import Problems, header_problems, url_problems
from retinue.tools.models import Tool

_MAX_AUTH_CONFIG_BYTES = 64 * 1024
# What a tenant's file may contain; every other key holds or may hold a secret.
_PUBLIC_KEYS = frozenset(
    {"token_url", "client_id", "scope", "username", "api_key_header", "api_key_location"}
)
# Bounded, because every response is searched for each value.
_TextMap = Annotated[dict[str, str], msgspec.Meta(max_length=50)]


class _KnownKeys(msgspec.Struct, kw_only=True):
    credential_id: str | None = None
    token_url: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    username: str | None = None
    password: str | None = None
    token: str | None = None
    api_key_header: str | None = None
    api_key_value: str | None = None
    api_key_location: Literal["header", "query"] | None = None
    headers: _TextMap | None = None
    query: _TextMap | None = None


class ToolAuth(msgspec.Struct, frozen=True):
    """A tool's authentication: a credential of the vault, its own secrets, both or neither."""

    credential: Credential | None = None
    sealed: Sealed | None = None

    def columns(self) -> JsonObject:
        return {
            "auth_config": self.sealed,
            "credential_id": self.credential.id if self.credential else None,
        }


async def read_auth_config(ctx: Context, config: JsonObject | None) -> ToolAuth:
    """Validate `auth_config`, load its credential and encrypt its secrets."""
    secrets = {name: value for name, value in (config or {}).items() if value is not None}
    _check(secrets)
    report_unknown_keys(ctx.caller.ignored, secrets, _KnownKeys, "auth_config")
    credential_id = secrets.pop("credential_id", None)
    credential = None
    if credential_id is not None:
        ctx.principal.require("credentials:read")
        credential = await ctx.db.get(Credential, credential_id)
        if credential is None:
            raise Invalid({"auth_config.credential_id": "there is no such credential"})
    return ToolAuth(credential, Sealed.of(msgspec.json.encode(secrets)) if secrets else None)


def split_public_fields(ctx: Context, tool: Tool) -> tuple[JsonObject, bool]:
    """Return what of a tool's `auth_config` is no secret, and whether it has secrets beside that."""
    stored = _open(ctx, tool)
    public = {name: stored[name] for name in sorted(stored.keys() & _PUBLIC_KEYS)}
    return public, len(public) < len(stored)


def check_public_fields(fields: JsonObject) -> None:
    """Raise `Invalid` for keys that may hold a secret."""
    problems = dict.fromkeys(fields.keys() - _PUBLIC_KEYS, "may hold a secret, so it cannot be set here")
    if problems:
        raise Invalid({f"auth_config.{name}": problem for name, problem in sorted(problems.items())})


def with_public_fields(ctx: Context, tool: Tool, fields: JsonObject) -> Sealed | None:
    """Return the sealed `auth_config` with other public fields and the same secrets.

    ADR 8: the secrets are sent to the token URL too, so it cannot change without them.
    """
    stored = _open(ctx, tool)
    secrets = {name: value for name, value in stored.items() if name not in _PUBLIC_KEYS}
    if secrets and fields.get("token_url") != stored.get("token_url"):
        raise Invalid({"auth_config.token_url": "cannot change unless the secrets are entered again"})
    after = {**{name: value for name, value in fields.items() if value is not None}, **secrets}
    if after == stored:
        return tool.auth_config
    _check(after)
    return Sealed.of(msgspec.json.encode(after)) if after else None


def _open(ctx: Context, tool: Tool) -> JsonObject:
    if tool.auth_config is None:
        return {}
    stored: JsonObject = msgspec.json.decode(tool.auth_config.open(ctx.instance.ring))
    return stored


def _check(secrets: JsonObject) -> None:
    if len(msgspec.json.encode(secrets)) > _MAX_AUTH_CONFIG_BYTES:
        raise Invalid({"auth_config": f"is larger than {_MAX_AUTH_CONFIG_BYTES // 1024} KiB"})
    problems = dict(_wrong_values(parse_config(secrets, _KnownKeys, "auth_config")))
    if problems:
        raise Invalid({f"auth_config.{path}": message for path, message in problems.items()})


def _wrong_values(known: _KnownKeys) -> Problems:
    yield from url_problems("token_url", known.token_url)
    yield from header_problems("headers", known.headers)
    if known.api_key_header and known.api_key_location != "query":
        yield from header_problems("api_key_header", {known.api_key_header: known.api_key_value or ""})


async def bind_destination(ctx: Context, tool: Tool, entered: ToolAuth | None, destination: str) -> str:
    """Return where the tool's secrets may be sent; `entered` is None if they are unchanged.

    They move with a new configuration only if they are entered again or the caller may reveal them.
    """
    secrets = entered or ToolAuth(await _attached_credential(ctx, tool), tool.auth_config)
    if secrets.credential is None and secrets.sealed is None:
        return ""
    bound = _bound_destination(ctx, tool, secrets, destination, is_entered=entered is not None)
    if secrets.credential is not None and bound == destination:
        await destinations.admit(ctx, secrets.credential, destination)
    return bound


def _bound_destination(
    ctx: Context, tool: Tool, secrets: ToolAuth, destination: str, *, is_entered: bool
) -> str:
    """Secrets that were entered without a destination are bound to none as strictly as others to theirs."""
    has_no_destination = secrets.sealed is not None and not tool.auth_destination
    if has_no_destination and not is_entered and not destinations.may_move(ctx, ""):
        return ""
    return destinations.resolve_binding(
        ctx, previous=tool.auth_destination, wanted=destination, is_entered=is_entered
    )


async def _attached_credential(ctx: Context, tool: Tool) -> Credential | None:
    return await ctx.db.get(Credential, tool.credential_id) if tool.credential_id else None
