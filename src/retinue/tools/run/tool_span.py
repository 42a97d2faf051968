"""The span of a tool execution: below the work that called it, or a part of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from retinue.kit.context import Context
from retinue.kit.tracing import names
from retinue.kit.tracing.parts import recording_part, store_part
from retinue.kit.tracing.recorder import ActiveSpan, current_part, current_span, unit_span
from retinue.tools.models import Tool, ToolExecution


@contextmanager
def recording_tool(ctx: Context, tool: Tool, execution: ToolExecution) -> Iterator[ActiveSpan | None]:
    """Record the execution; a model's call has its span already."""
    active = current_span()
    name = f"execute_tool {tool.name}"
    if active is None:
        with recording_part(
            ctx, name, "tool", agent_id=execution.agent_id, user_id=execution.user_id
        ) as part:
            yield _described(part.root, tool, execution) if part is not None else None
    elif active.span.kind == "tool" and active.span.execution_id is None:
        yield _described(active, tool, execution)
    else:
        with unit_span(name, "tool") as span:
            yield _described(span, tool, execution) if span is not None else None


def _described(span: ActiveSpan, tool: Tool, execution: ToolExecution) -> ActiveSpan:
    span.span.execution_id = execution.id
    span.set(
        {
            names.OPERATION: "execute_tool",
            names.TOOL_NAME: tool.name,
            names.TOOL_TYPE: tool.tool_type.value,
            names.EXECUTION_ID: execution.id,
        }
    )
    return span


async def store_tool_part(unit: Context, execution: ToolExecution) -> None:
    """Store the part of an execution that nothing else tells about."""
    part = current_part()
    if part is not None and part.kind == "tool" and part.root.span.execution_id == execution.id:
        await store_part(unit)
