"""The end of a turn that nobody waits for, told to whoever wants to know."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.callbacks import call_back
from retinue.chat.completing import tell_completed
from retinue.chat.models import ENDED, ChatJob, Conversation, ConversationStatus, JobStatus, Message
from retinue.kit.context import Context
from retinue.kit.continuations import go_on
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError

_jobs, _conversations = ChatJob.__table__, Conversation.__table__
OPEN = _jobs.c.status.in_([sa.literal(status.value) for status in JobStatus if status not in ENDED])
_END: Statement[Any] = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), OPEN)
    .values(
        status=sa.bindparam("status"),
        error=sa.bindparam("error", type_=_jobs.c.error.type),
        progress=None,
        context=None,
        completed_at=sa.bindparam("now"),
    )
)
# Its end was told with the job's; silence need not tell it again, and the next message opens it.
_CLOSE: Statement[Any] = Statement(
    sa.update(_conversations)
    .where(_conversations.c.id == sa.bindparam("conversation_id"))
    .values(status=ConversationStatus.closed.value)
)


class AlreadyEnded(RetinueError):
    """The job has ended meanwhile."""

    status, code = 409, "conflict"


class TurnLost(RetinueError):
    """The server stopped again and again while it answered."""

    code = "turn_lost"


async def end_job(unit: Context, accepted: ChatJob, status: JobStatus, error: RetinueError | None) -> None:
    told = {"code": error.code, "message": error.message} if error is not None else None
    if not await unit.db.execute(_END, job_id=accepted.id, status=status.value, error=told, now=unit.now):
        raise AlreadyEnded


async def close_conversation(unit: Context, conversation_id: str) -> None:
    await unit.db.execute(_CLOSE, conversation_id=conversation_id)


async def tell_end(
    unit: Context, accepted: ChatJob, error: RetinueError | None, reply: Message | None = None
) -> None:
    reason = "job_completed" if error is None else "job_failed"
    event_id = await tell_completed(
        unit, accepted.conversation_id, accepted.agent_id, reason, job_id=accepted.id
    )
    await call_back(unit, accepted, event_id, reply)
    status = JobStatus.completed if error is None else JobStatus.failed
    await tell_waiting(unit, accepted, status, error, reply)


async def tell_waiting(
    unit: Context, accepted: ChatJob, status: JobStatus, error: RetinueError | None, reply: Message | None
) -> None:
    if accepted.waiting is None:
        return
    usage = reply.details.usage if reply is not None and reply.details is not None else None
    result = {
        "status": status,
        "job_id": accepted.id,
        "conversation_id": accepted.conversation_id,
        "message_id": accepted.message_id,
        "reply": reply.content if reply is not None else None,
        "usage": msgspec.to_builtins(usage),
        "error": {"code": error.code, "message": error.message} if error is not None else None,
    }
    await go_on(unit, accepted.waiting, result)
