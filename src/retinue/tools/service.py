"""The registry: tools are created, changed and deleted, and their secrets are bound to where they lead."""

from typing import Any

from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.ids import new_id
from retinue.kit.json_schemas import compile_schema
from retinue.kit.schemas import given
from retinue.tools import approval_rules, auth_configs, configuration, known_keys, packages, slugs
from retinue.tools.categories import CATEGORIES
from retinue.tools.errors import SlugTaken, ToolNotFound
from retinue.tools.events import ToolCreated, ToolDeleted, ToolUpdated
from retinue.tools.models import PackagesStatus, Tool
from retinue.tools.queries import slugs_like, tools_by_category, tools_with_script
from retinue.tools.schemas import CategoryOut, ToolCreate, ToolUpdate

REFERENCE = "tool"
"""What other domains point at with a `kit.references.Reference`: they let go of a tool that is deleted."""


async def create(ctx: Context, body: ToolCreate) -> Tool:
    _check_schemas(body.input_schema, body.output_schema)
    config = configuration.changed({}, body.config)
    known_keys.check(body.tool_type, config)
    await approval_rules.check(ctx, body.approval)
    entered = await auth_configs.read(ctx, body.auth_config)
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
        **entered.columns(),
    )
    destination = configuration.destination_of(tool.tool_type, config)
    tool.auth_destination = await auth_configs.bind(ctx, tool, entered, destination)
    tool.packages_status = packages.status_for(tool.tool_type, config)
    await _insert(ctx, tool, is_numbered=body.slug is None)
    if tool.packages_status is PackagesStatus.resolving:
        packages.follow(ctx, tool)
    ctx.emit(ToolCreated(tool_id=tool.id, name=tool.name, tool_type=tool.tool_type))
    return tool


async def update(ctx: Context, tool: Tool, body: ToolUpdate) -> Tool:
    held = await ctx.db.lock(Tool, tool.id)
    if held is None:
        raise ToolNotFound
    wanted = given(body)
    if "description" in wanted:
        wanted["description"] = wanted["description"] or ""
    _check_schemas(wanted.get("input_schema"), wanted.get("output_schema"))
    if "config" in wanted:
        wanted["config"] = configuration.changed(held.config, wanted["config"])
    tool_type, config = wanted.get("tool_type", held.tool_type), wanted.get("config", held.config)
    known_keys.check(tool_type, config)
    await approval_rules.check(ctx, wanted.get("approval"))
    entered = None
    if "auth_config" in wanted:
        entered = await auth_configs.read(ctx, wanted["auth_config"])
        wanted |= entered.columns()
    destination = configuration.destination_of(tool_type, config)
    is_moved = destination != configuration.destination_of(held.tool_type, held.config)
    named = configuration.destination_of(tool_type, given(body).get("config") or {})
    # Whoever merely renames a tool has not agreed to the address that someone else gave it.
    if is_moved or (named and named == destination) or entered is not None:
        wanted["auth_destination"] = await auth_configs.bind(ctx, held, entered, destination)
    moved = packages.changes(held, tool_type, config)
    wanted |= moved
    changes = {name: value for name, value in wanted.items() if getattr(held, name) != value}
    if changes:
        await _change(ctx, held, changes)
    if moved:
        packages.follow(ctx, held)
    return held


async def _change(ctx: Context, tool: Tool, changes: dict[str, Any]) -> None:
    try:
        await ctx.db.update(tool, **changes)
    except UniqueViolation:
        raise SlugTaken from None
    ctx.emit(ToolUpdated(tool_id=tool.id, name=tool.name, changed=sorted(changes)))


async def delete(ctx: Context, tool: Tool) -> None:
    await references.detach(ctx, REFERENCE, tool.id)
    await ctx.db.delete(tool)
    packages.forget(ctx, tool)
    ctx.emit(ToolDeleted(tool_id=tool.id, name=tool.name))


async def categories(ctx: Context) -> list[CategoryOut]:
    counts = await tools_by_category(ctx)
    return [
        CategoryOut.of(shown, slug=category, tool_count=counts.get(category, 0))
        for category, shown in CATEGORIES.items()
    ]


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Make every tool let go of a credential that is deleted."""
    for tool in await ctx.db.all(Tool, credential_id=credential_id):
        await _change(ctx, tool, {"credential_id": None})


async def detach_script(ctx: Context, file_id: str) -> None:
    """Leave every tool that runs a deleted file without an entrypoint, and so not configured."""
    for tool in await tools_with_script(ctx, file_id):
        rest = {name: value for name, value in tool.config.items() if name != "entrypoint"}
        await _change(ctx, tool, {"config": rest})


def _check_schemas(input_schema: dict[str, Any] | None, output_schema: dict[str, Any] | None) -> None:
    if input_schema is not None:
        compile_schema(input_schema, "input_schema")
    if output_schema is not None:
        compile_schema(output_schema, "output_schema")


async def _insert(ctx: Context, tool: Tool, *, is_numbered: bool) -> None:
    """Store a tool whose slug is the caller's, or is made from the name and gets a number if it is taken."""
    taken = await slugs_like(ctx, tool.slug) if is_numbered else set()
    for slug in slugs.numbered(tool.slug) if is_numbered else [tool.slug]:
        tool.slug = slug
        if slug not in taken and await ctx.db.insert_missing(tool):
            return
    raise SlugTaken
