"""The nightly job: every imported MCP server is listed again."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tools.job_kinds import REFRESH_LISTING, ListingTask
from retinue.tools.models import Tool, ToolType

_BATCH_SIZE = 500

_tools = Tool.__table__
_CUSTOM_TOOLS = Statement(
    sa.select(_tools.c.tenant_id, _tools.c.id)
    .where(
        _tools.c.tool_type == sa.literal(ToolType.custom.value),
        _tools.c.is_enabled,
        _tools.c.id > sa.bindparam("after"),
    )
    .order_by(_tools.c.id)
    .limit(_BATCH_SIZE)
)


async def enqueue_listings(ctx: Context) -> None:
    """Enqueue a listing for each custom tool; the job itself knows which are MCP servers."""
    after = ""
    while True:
        async with ctx.unit() as unit:
            found = await unit.system("MCP servers change in every tenant").rows(_CUSTOM_TOOLS, after=after)
        for tenant_id, tool_id in found:
            async with ctx.unit() as unit:
                unit.bind_tenant(tenant_id)
                unit.defer(REFRESH_LISTING, ListingTask(tool_id), dedupe_key=f"listing:{tool_id}")
        if len(found) < _BATCH_SIZE:
            return
        after = found[-1][1]
