"""The record of a run: truncated, and stored with the usage count in one short transaction."""

from contextlib import suppress

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.errors import RecordGone, ReferenceViolation
from retinue.kit.db.statements import Statement
from retinue.tools.models import Tool, ToolExecution
from retinue.tools.run.tool_span import store_tool_part
from retinue.usage.meters import meter

_MAX_JSON_BYTES = 64 * 1024
_MAX_LOG_BYTES = 8 * 1024
# Escaping quotes and backslashes in JSON at most doubles the length of a text.
_MAX_PREVIEW_BYTES = _MAX_JSON_BYTES // 2 - 100

_RESULT_COLUMNS = (
    "status",
    "input",
    "output",
    "error",
    "logs",
    "attempts",
    "execution_time_ms",
    "executed_at",
    "conversation_ids",
)

_tools = Tool.__table__
_COUNT_USE = Statement(
    sa.update(_tools)
    .where(_tools.c.id == sa.bindparam("tool_id"))
    .values(usage_count=_tools.c.usage_count + 1, last_used_at=sa.bindparam("now"))
)


def truncate_json(encoded: bytes) -> str:
    """Return JSON of at most 64 KiB: the value itself, or its size and a preview."""
    if len(encoded) <= _MAX_JSON_BYTES:
        return encoded.decode()
    preview = encoded[:_MAX_PREVIEW_BYTES].decode(errors="ignore")
    return msgspec.json.encode({"truncated": True, "size_bytes": len(encoded), "preview": preview}).decode()


def truncate_logs(logs: str) -> str:
    return truncate_text(logs, _MAX_LOG_BYTES)


def truncate_text(text: str, max_bytes: int) -> str:
    """Return the beginning of a text, without characters that databases cannot store."""
    return text.replace("\0", "").encode(errors="replace")[:max_bytes].decode(errors="ignore")


async def count_trial(ctx: Context, execution: ToolExecution) -> None:
    """Count the run of a tool that is not stored: usage and trace, without an execution to read."""
    async with ctx.unit() as unit:
        meter(unit, {"tool_executions": 1})
        await store_tool_part(unit, execution)


async def record_execution(ctx: Context, execution: ToolExecution, *, is_new: bool) -> None:
    """Store the result of a run and count it; do nothing if the tool was deleted meanwhile."""
    with suppress(ReferenceViolation, RecordGone):
        async with ctx.unit() as unit:
            unit.db.execute_at_commit(_COUNT_USE, tool_id=execution.tool_id, now=execution.executed_at)
            meter(unit, {"tool_executions": 1}, tool_id=execution.tool_id, agent_id=execution.agent_id or "")
            if is_new:
                await unit.db.insert_at_commit(execution)
            else:
                await unit.db.update(
                    execution, **{name: getattr(execution, name) for name in _RESULT_COLUMNS}
                )
            await store_tool_part(unit, execution)
