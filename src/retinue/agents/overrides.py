"""What an agent changes about a tool's configuration, and where that may lead the tool's secrets.

An override wins over the configuration. But whoever may attach a tool need not be entitled to its secrets, so
an override that leads them elsewhere takes effect with them only when someone saved it who could read them;
until then runs fail with `destination_changed`.
"""

from typing import Any

import msgspec

from retinue.agents.models import AgentTool
from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.tools import known_keys
from retinue.tools.configuration import destination_of, merged
from retinue.tools.models import Tool

_MAX_BYTES = 16 * 1024

Override = dict[str, Any] | None


def check(tool: Tool, override: Override) -> None:
    """Refuse an override that is too large, or gives the configuration a key that cannot be what it is."""
    if not override:
        return
    if len(msgspec.json.encode(override)) > _MAX_BYTES:
        raise Invalid({"config_override": f"is larger than {_MAX_BYTES // 1024} KiB"})
    try:
        known_keys.check(tool.tool_type, merged(tool.config, override))
    except Invalid as invalid:
        problems = {name.replace("config", "config_override", 1): why for name, why in _details(invalid)}
        raise Invalid(problems) from None


def _details(invalid: Invalid) -> list[tuple[str, str]]:
    return list((invalid.details or {}).items())


async def destination_for(ctx: Context, tool: Tool, attachment: AgentTool, override: Override) -> str:
    """Where the override may lead the tool's secrets when this person saves it in the attachment.

    What someone entitled allowed stays so until the override is removed, or saved by such a person again.
    """
    if not override:
        return ""
    allowed = attachment.override_destination
    effective = destination_of(tool.tool_type, merged(tool.config, override))
    if effective == allowed or not destinations.may_move(ctx, ""):
        return allowed
    has_secrets = tool.auth_config is not None or tool.credential_id is not None
    if not has_secrets or not effective or effective == tool.auth_destination:
        return ""
    is_open = _is_agreed_to(tool, override, effective) and await _admit(ctx, tool, effective)
    return effective if is_open else allowed


async def _admit(ctx: Context, tool: Tool, destination: str) -> bool:
    """Secrets of the vault need the vault's leave as well."""
    if tool.credential_id is None:
        return True
    credential = await ctx.db.get(Credential, tool.credential_id)
    return credential is not None and await destinations.admit(ctx, credential, destination)


def _is_agreed_to(tool: Tool, override: dict[str, Any], effective: str) -> bool:
    """Who saves an override agrees to the address in it, not to one that someone else gave the tool."""
    is_named = destination_of(tool.tool_type, override) == effective
    return is_named or destination_of(tool.tool_type, tool.config) == tool.auth_destination
