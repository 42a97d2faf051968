"""A run of a tool that is not stored: tried while somebody writes it."""

from retinue.kit.context import Context
from retinue.tools import service
from retinue.tools.categories import Category
from retinue.tools.config.configuration import destination_of
from retinue.tools.events import ToolTried
from retinue.tools.models import ExecutionSource
from retinue.tools.run.execute import new_execution, require_runnable, run
from retinue.tools.run.outcome import ToolRunResult
from retinue.tools.run.records import count_trial
from retinue.tools.schemas import ToolCreate, ToolTrial

_NAME = "Trial"


async def try_tool(ctx: Context, body: ToolTrial) -> ToolRunResult:
    """Run a tool as if it had just been created; only the audit log, usage and traces remember it.

    It is built like a stored one, so its secrets are bound to the destination that they were sent with.
    """
    ctx.principal.require("tools:write")
    async with ctx.unit() as unit:
        tool = await service.build(
            unit,
            ToolCreate(
                name=_NAME,
                category=Category.custom,
                tool_type=body.tool_type,
                config=body.config,
                auth_type=body.auth_type,
                auth_config=body.auth_config,
                input_schema=body.input_schema,
            ),
        )
        require_runnable(tool, body.input)
        destination = destination_of(tool.tool_type, tool.config)
        unit.emit(ToolTried(tool_type=tool.tool_type, destination=destination))
    return await run(ctx, tool, body.input, new_execution(ctx, tool, ExecutionSource.api), count_trial)
