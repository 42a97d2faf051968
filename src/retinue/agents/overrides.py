"""An agent's overrides of a tool's configuration, and the destination of the tool's secrets (ADR 8).

An override wins over the configuration. A user who may attach a tool need not be authorized for its secrets,
so an override that sends them elsewhere takes effect only after an authorized user has saved it; until then
runs fail with `destination_changed`.
"""

import msgspec

from retinue.agents.models import AgentTool
from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.config import known_keys
from retinue.tools.config.configuration import apply_override, destination_of
from retinue.tools.models import Tool

_MAX_OVERRIDE_BYTES = 16 * 1024

Override = JsonObject | None


def check(ctx: Context, tool: Tool, override: Override) -> None:
    """Raise if an override is too large or makes the configuration invalid."""
    if not override:
        return
    if len(msgspec.json.encode(override)) > _MAX_OVERRIDE_BYTES:
        raise Invalid({"config_override": f"must be at most {_MAX_OVERRIDE_BYTES // 1024} KiB"})
    effective = apply_override(tool.config, override)
    try:
        known_keys.validate_config(ctx, tool.tool_type, effective)
    except Invalid as invalid:
        problems = {
            name.replace("config", "config_override", 1): problem for name, problem in _details(invalid)
        }
        raise Invalid(problems) from None
    known_keys.report_unknown_keys(ctx, tool.tool_type, effective, override, "config_override")


def _details(invalid: Invalid) -> list[tuple[str, str]]:
    return list((invalid.details or {}).items())


async def destination_for(ctx: Context, tool: Tool, attachment: AgentTool, override: Override) -> str:
    """Return where the override may send the tool's secrets when the caller saves it.

    A permission given by an authorized user holds until the override is removed or saved by one again.
    """
    if not override:
        return ""
    allowed = attachment.override_destination
    effective = destination_of(tool.tool_type, apply_override(tool.config, override))
    if effective == allowed or not destinations.may_move(ctx, ""):
        return allowed
    has_secrets = tool.auth_config is not None or tool.credential_id is not None
    if not has_secrets or not effective or effective == tool.auth_destination:
        return ""
    is_open = _is_agreed_to(tool, override, effective) and await _admit(ctx, tool, effective)
    return effective if is_open else allowed


async def _admit(ctx: Context, tool: Tool, destination: str) -> bool:
    """Return whether the vault, too, lets the credential go to this destination."""
    if tool.credential_id is None:
        return True
    credential = await ctx.db.get(Credential, tool.credential_id)
    return credential is not None and await destinations.admit(ctx, credential, destination)


def _is_agreed_to(tool: Tool, override: JsonObject, effective: str) -> bool:
    """Return whether the address comes from this override, not from someone else's configuration."""
    is_named = destination_of(tool.tool_type, override) == effective
    return is_named or destination_of(tool.tool_type, tool.config) == tool.auth_destination
