"""Executions as the caller may read them: they quote the conversations they ran in (ADR 21)."""

from collections.abc import Sequence

from retinue.kit.context import Context
from retinue.kit.context.conversation_access import ContentReader, load_content_reader
from retinue.kit.conversation_ids import UNNAMED_CONVERSATIONS
from retinue.tools.models import ExecutionSource, ToolExecution
from retinue.tools.schemas import ExecutionOut


async def render_executions(ctx: Context, executions: Sequence[ToolExecution]) -> dict[str, ExecutionOut]:
    """Return the executions by id; read access is looked up once for all of them."""
    reader = await load_content_reader(ctx, map(_quoted_conversations, executions))
    return {
        execution.id: ExecutionOut.from_record(execution)
        if _may_read(ctx, reader, execution)
        else ExecutionOut.shown_redacted(execution)
        for execution in executions
    }


def _quoted_conversations(execution: ToolExecution) -> Sequence[str] | None:
    """Return the quoted conversations; old executions of agents quote one whose id was not stored."""
    if execution.conversation_ids is None and execution.source is ExecutionSource.agent:
        return (UNNAMED_CONVERSATIONS,)
    return execution.conversation_ids


def _may_read(ctx: Context, reader: ContentReader, execution: ToolExecution) -> bool:
    """Allow callers their own executions, but not those that a workflow ran on their account."""
    is_own = execution.source is not ExecutionSource.workflow and execution.user_id == ctx.principal.id
    return is_own or reader.may_read(_quoted_conversations(execution))
