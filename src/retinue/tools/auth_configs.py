"""What is entered in `auth_config`: sealed at once, shown never, and bound to where it was entered for."""

from typing import Annotated, Any, Literal

import msgspec

from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.tools.known_keys import Problems, header_problems, url_problems, wrong_types
from retinue.tools.models import Tool

_MAX_BYTES = 64 * 1024
# What comes back from a call is searched for each of them.
_FewTexts = Annotated[dict[str, str], msgspec.Meta(max_length=50)]


class _Known(msgspec.Struct, kw_only=True):
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
    headers: _FewTexts | None = None
    query: _FewTexts | None = None


class Entered(msgspec.Struct, frozen=True):
    """What lets a tool in: a credential of the vault, secrets of its own, or both, or nothing."""

    credential: Credential | None = None
    sealed: Sealed | None = None

    def columns(self) -> dict[str, Any]:
        return {
            "auth_config": self.sealed,
            "credential_id": self.credential.id if self.credential else None,
        }


async def read(ctx: Context, given: dict[str, Any] | None) -> Entered:
    """Check what the caller entered, and seal what the vault does not hold already."""
    secrets = {name: value for name, value in (given or {}).items() if value is not None}
    _check(secrets)
    credential_id = secrets.pop("credential_id", None)
    credential = None
    if credential_id is not None:
        ctx.principal.require("credentials:read")
        credential = await ctx.db.get(Credential, credential_id)
        if credential is None:
            raise Invalid({"auth_config.credential_id": "there is no such credential"})
    return Entered(credential, Sealed.of(msgspec.json.encode(secrets)) if secrets else None)


def _check(secrets: dict[str, Any]) -> None:
    if len(msgspec.json.encode(secrets)) > _MAX_BYTES:
        raise Invalid({"auth_config": f"is larger than {_MAX_BYTES // 1024} KiB"})
    problems = wrong_types(secrets, _Known) or dict(_wrong_values(msgspec.convert(secrets, _Known)))
    if problems:
        raise Invalid({f"auth_config.{path}": message for path, message in problems.items()})


def _wrong_values(known: _Known) -> Problems:
    yield from url_problems("token_url", known.token_url)
    yield from header_problems("headers", known.headers)
    if known.api_key_header and known.api_key_location != "query":
        yield from header_problems("api_key_header", {known.api_key_header: known.api_key_value or ""})


async def bind(ctx: Context, tool: Tool, entered: Entered | None, destination: str) -> str:
    """Where the secrets of a tool that is saved may be sent; `entered` is None where they stay as they are.

    They move with a new configuration only when they are entered again, or when the caller may read them.
    """
    secrets = entered or Entered(await _attached(ctx, tool), tool.auth_config)
    if secrets.credential is None and secrets.sealed is None:
        return ""
    bound = _bound(ctx, tool, secrets, destination, is_entered=entered is not None)
    if secrets.credential is not None and bound == destination:
        await destinations.admit(ctx, secrets.credential, destination)
    return bound


def _bound(ctx: Context, tool: Tool, secrets: Entered, wanted: str, *, is_entered: bool) -> str:
    """Secrets of the tool's own that were entered for nowhere stay there as firmly as anywhere else."""
    is_for_nowhere = secrets.sealed is not None and not tool.auth_destination
    if is_for_nowhere and not is_entered and not destinations.may_move(ctx, ""):
        return ""
    return destinations.bound(ctx, previous=tool.auth_destination, wanted=wanted, is_entered=is_entered)


async def _attached(ctx: Context, tool: Tool) -> Credential | None:
    return await ctx.db.get(Credential, tool.credential_id) if tool.credential_id else None
