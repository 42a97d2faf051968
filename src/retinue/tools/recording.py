"""The record of a run: one row and one count in one short transaction, cut to size."""

from contextlib import suppress
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.errors import RecordGone, ReferenceViolation
from retinue.kit.db.statements import Statement
from retinue.tools.models import Tool, ToolExecution
from retinue.usage.metering import meter

_LONGEST_JSON = 64 * 1024
_LONGEST_LOGS = 8 * 1024
# A text grows at most to twice its length when its quotes and backslashes are written in JSON.
_LONGEST_PREVIEW = _LONGEST_JSON // 2 - 100

_OUTCOME = (
    "status",
    "input",
    "output",
    "error",
    "logs",
    "attempts",
    "execution_time_ms",
    "executed_at",
)

_tools = Tool.__table__
_COUNT_USE: Statement[Any] = Statement(
    sa.update(_tools)
    .where(_tools.c.id == sa.bindparam("tool_id"))
    .values(usage_count=_tools.c.usage_count + 1, last_used_at=sa.bindparam("now"))
)


def cut_json(encoded: bytes) -> str:
    """A JSON text of at most 64 KiB: the value itself, or how large it is and how it begins."""
    if len(encoded) <= _LONGEST_JSON:
        return encoded.decode()
    preview = encoded[:_LONGEST_PREVIEW].decode(errors="ignore")
    return msgspec.json.encode({"truncated": True, "size_bytes": len(encoded), "preview": preview}).decode()


def cut_logs(logs: str) -> str:
    return cut_text(logs, _LONGEST_LOGS)


def cut_text(text: str, longest: int) -> str:
    """The beginning of a text from anywhere, as one that every database can store."""
    return text.replace("\0", "").encode(errors="replace")[:longest].decode(errors="ignore")


async def record(ctx: Context, execution: ToolExecution, *, is_new: bool) -> None:
    """Store how a run ended and count it; of a tool that was deleted meanwhile nothing is left to store."""
    with suppress(ReferenceViolation, RecordGone):
        async with ctx.unit() as unit:
            unit.db.execute_at_commit(_COUNT_USE, tool_id=execution.tool_id, now=execution.executed_at)
            meter(unit, {"tool_executions": 1}, tool_id=execution.tool_id, agent_id=execution.agent_id or "")
            if is_new:
                await unit.db.insert_at_commit(execution)
            else:
                await unit.db.update(execution, **{name: getattr(execution, name) for name in _OUTCOME})
