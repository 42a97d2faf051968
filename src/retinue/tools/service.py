"""The tool registry: create, update and delete tools, and bind their secrets to destinations (ADR 8)."""

from retinue.kit.context import Context, references
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.json_schema import compile_schema
from retinue.kit.text.header_masks import restore_masked_headers
from retinue.tools import slugs
from retinue.tools.categories import CATEGORIES
from retinue.tools.config import auth_config, configuration, known_keys, packages
from retinue.tools.errors import ToolNotFound, ToolSlugTaken
from retinue.tools.events import ToolCreated, ToolDeleted, ToolUpdated
from retinue.tools.models import ApprovalRule, PackagesStatus, Tool
from retinue.tools.queries import count_by_category, find_taken_slugs, tools_with_script
from retinue.tools.schemas import CategoryOut, ToolCreate, ToolUpdate
from retinue.users.models import User

REFERENCE = "tool"
"""Target of references from other domains (`kit.context.references`), which detach a deleted tool."""


async def create(ctx: Context, body: ToolCreate, *, is_imported: bool = False) -> Tool:
    tool = await build(ctx, body, is_imported=is_imported)
    return await store_new(ctx, tool, is_numbered=body.slug is None)


async def build(ctx: Context, body: ToolCreate, *, is_imported: bool = False) -> Tool:
    """Validate a new tool and bind its secrets to their destination; the tool is not stored.

    The caller has not sent the `config` of an imported tool, so none of its names are reported.
    """
    _check_schemas(body.input_schema, body.output_schema)
    config = configuration.changed({}, body.config)
    known_keys.validate_config(ctx, body.tool_type, config)
    if not is_imported:
        known_keys.report_unknown_keys(ctx, body.tool_type, config, body.config)
    await _validate_rule(ctx, body.approval)
    tool_auth = await auth_config.read_auth_config(ctx, body.auth_config)
    tool = Tool(
        id=new_id(Tool.__prefix__),
        name=body.name,
        slug=body.slug or slugs.from_name(body.name),
        description=body.description or "",
        category=body.category,
        tool_type=body.tool_type,
        config=config,
        auth_type=body.auth_type,
        input_schema=body.input_schema,
        output_schema=body.output_schema,
        is_enabled=body.is_enabled,
        requires_approval=body.requires_approval,
        approval=body.approval,
        pinned_packages=[],
        created_by=ctx.principal.id,
        **tool_auth.columns(),
    )
    destination = configuration.destination_of(tool.tool_type, config)
    tool.auth_destination = await auth_config.bind_destination(ctx, tool, tool_auth, destination)
    tool.packages_status = packages.status_for(tool.tool_type, config)
    return tool


async def store_new(ctx: Context, tool: Tool, *, is_numbered: bool) -> Tool:
    """Store a tool; if `is_numbered`, a slug that is taken gets a number."""
    await _insert(ctx, tool, is_numbered=is_numbered)
    if tool.packages_status is PackagesStatus.resolving:
        packages.enqueue_sync(ctx, tool)
    ctx.emit(ToolCreated(tool_id=tool.id, name=tool.name, tool_type=tool.tool_type))
    return tool


async def update(ctx: Context, tool: Tool, body: ToolUpdate) -> Tool:
    locked = await ctx.db.lock(Tool, tool.id)
    if locked is None:
        raise ToolNotFound
    wanted = sent_fields(body)
    if "description" in wanted:
        wanted["description"] = wanted["description"] or ""
    _check_schemas(wanted.get("input_schema"), wanted.get("output_schema"))
    if "config" in wanted:
        sent = restore_masked_headers(wanted["config"], locked.config)
        wanted["config"] = configuration.changed(locked.config, sent)
    tool_type, config = wanted.get("tool_type", locked.tool_type), wanted.get("config", locked.config)
    known_keys.validate_config(ctx, tool_type, config)
    if "config" in wanted:
        known_keys.report_unknown_keys(ctx, tool_type, config, sent)
    await _validate_rule(ctx, wanted.get("approval"))
    tool_auth = None
    if "auth_config" in wanted:
        tool_auth = await auth_config.read_auth_config(ctx, wanted["auth_config"])
        wanted |= tool_auth.columns()
    destination = configuration.destination_of(tool_type, config)
    is_moved = destination != configuration.destination_of(locked.tool_type, locked.config)
    sent_destination = configuration.destination_of(tool_type, sent_fields(body).get("config") or {})
    # ADR 8: an update that does not send the destination does not approve one that somebody else set.
    if is_moved or (sent_destination and sent_destination == destination) or tool_auth is not None:
        wanted["auth_destination"] = await auth_config.bind_destination(ctx, locked, tool_auth, destination)
    package_changes = packages.changes(locked, tool_type, config)
    wanted |= package_changes
    changes = {name: value for name, value in wanted.items() if getattr(locked, name) != value}
    if changes:
        await store_changes(ctx, locked, changes)
    if package_changes:
        packages.enqueue_sync(ctx, locked)
    return locked


async def update_public_auth(ctx: Context, tool: Tool, fields: JsonObject) -> None:
    """Change what of `auth_config` is no secret; the secrets stay, bound to where they were entered for."""
    sealed = auth_config.with_public_fields(ctx, tool, fields)
    if sealed is not tool.auth_config:
        await store_changes(ctx, tool, {"auth_config": sealed})


async def store_changes(ctx: Context, tool: Tool, changes: JsonObject) -> None:
    """Store changed fields of a tool that is locked, and announce them."""
    try:
        await ctx.db.update(tool, **changes)
    except UniqueViolation:
        raise ToolSlugTaken from None
    ctx.emit(ToolUpdated(tool_id=tool.id, name=tool.name, changed=sorted(changes)))


async def delete(ctx: Context, tool: Tool) -> None:
    await references.detach_referrers(ctx, REFERENCE, tool.id)
    await ctx.db.delete(tool)
    packages.enqueue_removal(ctx, tool)
    ctx.emit(ToolDeleted(tool_id=tool.id, name=tool.name))


async def categories(ctx: Context) -> list[CategoryOut]:
    counts = await count_by_category(ctx)
    return [
        CategoryOut.of(info, slug=category, tool_count=counts.get(category, 0))
        for category, info in CATEGORIES.items()
    ]


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Remove a deleted credential from every tool that uses it."""
    for tool in await ctx.db.all(Tool, credential_id=credential_id):
        await store_changes(ctx, tool, {"credential_id": None})


async def detach_script(ctx: Context, file_id: str) -> None:
    """Remove the entrypoint from tools that run a deleted file; they fail with `not_configured`."""
    for tool in await tools_with_script(ctx, file_id):
        rest = {name: value for name, value in tool.config.items() if name != "entrypoint"}
        await store_changes(ctx, tool, {"config": rest})


def _check_schemas(input_schema: JsonObject | None, output_schema: JsonObject | None) -> None:
    if input_schema is not None:
        compile_schema(input_schema, "input_schema")
    if output_schema is not None:
        compile_schema(output_schema, "output_schema")


async def _insert(ctx: Context, tool: Tool, *, is_numbered: bool) -> None:
    """Store the tool; if `is_numbered`, a slug that is taken gets a number."""
    taken = await find_taken_slugs(ctx, tool.slug) if is_numbered else set()
    for slug in slugs.numbered_candidates(tool.slug) if is_numbered else [tool.slug]:
        tool.slug = slug
        if slug not in taken and await ctx.db.insert_missing(tool):
            return
    raise ToolSlugTaken


async def _validate_rule(ctx: Context, rule: ApprovalRule | None) -> None:
    """Raise `Invalid` for a rule that can never be satisfied."""
    if rule is None:
        return
    named = sorted(set(rule.approvers.user_ids))
    unknown = [id for id in named if await ctx.db.get(User, id) is None]
    if unknown:
        raise Invalid({"approval.approvers.user_ids": f"there is no such user: {', '.join(unknown[:5])}"})
    if named and not rule.approvers.roles and rule.required_approvals > len(named):
        raise Invalid({"approval.required_approvals": "must not exceed the number of approvers"})
