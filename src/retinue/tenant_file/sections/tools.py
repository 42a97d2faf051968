"""Tools by slug. Their secrets stay in the vault: the file neither shows nor moves them (ADR 8)."""

import msgspec

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.parts import ToolPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, fill_part, load_all, own_slug
from retinue.tools import service
from retinue.tools.config import auth_config
from retinue.tools.models import AuthType, Tool
from retinue.tools.schemas import ToolCreate, ToolUpdate

_WRITE = "tools:write"


async def _export(ctx: Context, names: ReferenceIndex, tool: Tool) -> ToolPart:
    public, has_secrets = auth_config.split_public_fields(ctx, tool)
    needs_secrets = tool.credential_id is None and tool.auth_type is not AuthType.none
    part: ToolPart = fill_part(
        ToolPart,
        tool,
        config=names.to_references(mask_config_headers(ctx.principal, tool.config, _WRITE)),
        credential=names.to_references(tool.credential_id),
        auth_config=public,
        own_secrets=has_secrets or needs_secrets,
        approval=names.to_references(msgspec.to_builtins(tool.approval)),
    )
    return part


def _fields(names: ReferenceIndex, change: PlannedChange) -> JsonObject:
    part = change.part
    given = {name: getattr(part, name) for name in ToolCreate.__struct_fields__ if hasattr(part, name)}
    auth = dict(part.auth_config)
    credential_id = names.to_ids(part.credential, "credential")
    if credential_id is not None:
        auth["credential_id"] = credential_id
    return {
        **names.to_ids(msgspec.to_builtins(given), ""),
        "slug": change.name,
        "auth_config": auth or None,
    }


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> Tool:
    auth_config.check_public_fields(change.part.auth_config)
    return await service.create(ctx, convert_values(ToolCreate, _fields(names, change)))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, tool: Tool) -> None:
    auth_config.check_public_fields(change.part.auth_config)
    wanted = _fields(names, change)
    is_same_credential = tool.credential_id == (wanted["auth_config"] or {}).get("credential_id")
    if is_same_credential:
        # Sending it again would delete the tool's own secrets.
        del wanted["auth_config"]
    wanted["config"] = _with_nulls(tool.config, wanted["config"])
    updated = await service.update(ctx, tool, convert_values(ToolUpdate, wanted))
    if is_same_credential:
        await service.update_public_auth(ctx, updated, change.part.auth_config)


def _with_nulls(before: JsonObject, after: JsonObject) -> JsonObject:
    """Return the new configuration with null for removed keys, because an update merges by key."""
    result = {**dict.fromkeys(before), **after}
    old, new = before.get("endpoints"), after.get("endpoints")
    if isinstance(old, dict) and isinstance(new, dict):
        result["endpoints"] = {**dict.fromkeys(old), **new}
    return result


SECTION = FileSection(
    name="tools",
    write_key=_WRITE,
    load=load_all(Tool),
    natural_name=own_slug,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    secrets_note="its authentication",
)
