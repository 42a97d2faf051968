from collections.abc import Iterable

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.db.text_match import escape_like
from retinue.kit.lists import Listing
from retinue.tools.models import (
    FINAL_STATUSES,
    ExecutionStatus,
    PackagesStatus,
    Tool,
    ToolExecution,
    ToolType,
)

_tools, _executions = Tool.__table__, ToolExecution.__table__

IS_FINAL = _executions.c.status.in_([sa.literal(status.value) for status in FINAL_STATUSES])

_NEEDS_LOOK = sa.or_(
    _tools.c.packages_status == sa.literal(PackagesStatus.failed.value), _tools.c.held_listing.is_not(None)
)

TOOLS = Listing(
    Tool,
    searches=("name", "slug", "description"),
    sorts=(
        "created_at",
        "updated_at",
        "name",
        "slug",
        "category",
        "tool_type",
        "usage_count",
        "last_used_at",
    ),
    filters=("category", "tool_type", "is_enabled"),
    matches={"needs_look": sa.bindparam("needs_look", type_=sa.Boolean()) == _NEEDS_LOOK},
)
EXECUTIONS = Listing(
    ToolExecution,
    sorts=("executed_at",),
    filters=("status",),
    from_={"after": "executed_at"},
    until={"before": "executed_at"},
    only=(IS_FINAL,),
    default_sort="-executed_at",
)

_COUNT_BY_CATEGORY = Statement(sa.select(_tools.c.category, sa.func.count()).group_by(_tools.c.category))
_TAKEN_SLUGS = Statement(
    sa.select(_tools.c.slug).where(
        sa.or_(
            _tools.c.slug == sa.bindparam("slug"),
            _tools.c.slug.like(sa.bindparam("pattern"), escape="\\"),
        )
    )
)
_LAST_STATUS = (
    sa.select(_executions.c.status)
    .where(_executions.c.tool_id == _tools.c.id, IS_FINAL)
    .order_by(_executions.c.executed_at.desc())
    .limit(1)
    .correlate(_tools)
    .scalar_subquery()
)
_LAST_STATUSES = Statement(sa.select(_tools.c.id, _LAST_STATUS).where(in_list(_tools.c.id, "ids")))


async def find_last_statuses(ctx: Context, ids: Iterable[str]) -> dict[str, ExecutionStatus]:
    """Return how the last run of each tool ended, as far as one is known."""
    rows = await ctx.db.rows(_LAST_STATUSES, ids=list_parameter(ids))
    return {id: ExecutionStatus(status) for id, status in rows if status is not None}


async def count_by_category(ctx: Context) -> dict[str, int]:
    return {row[0]: row[1] for row in await ctx.db.rows(_COUNT_BY_CATEGORY)}


async def find_taken_slugs(ctx: Context, slug: str) -> set[str]:
    """Return the slug and its numbered variants, as far as they are taken."""
    rows = await ctx.db.rows(_TAKEN_SLUGS, slug=slug, pattern=f"{escape_like(slug)}-%")
    return {row[0] for row in rows}


async def find_users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    tools = await ctx.db.all(Tool, credential_id=credential_id)
    return [Referrer(tool.id, tool.name) for tool in tools]


async def tools_with_script(ctx: Context, file_id: str) -> list[Tool]:
    """Return the tools that run this uploaded file."""
    scripts = await ctx.db.all(Tool, tool_type=ToolType.script)
    return [tool for tool in scripts if tool.config.get("entrypoint") == file_id]


async def find_tools_with_script(ctx: Context, file_id: str) -> list[Referrer]:
    return [Referrer(tool.id, tool.name) for tool in await tools_with_script(ctx, file_id)]


async def find_tools_on_table(ctx: Context, table_id: str) -> list[Referrer]:
    tools = await ctx.db.all(Tool, tool_type=ToolType.custom)
    return [
        Referrer(tool.id, tool.name)
        for tool in tools
        if tool.config.get("kind") == "data_table" and tool.config.get("table_id") == table_id
    ]


async def keep_table(_ctx: Context, _table_id: str) -> None:
    """Do nothing: a table that a tool uses cannot be deleted."""
