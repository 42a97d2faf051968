"""Completion of background jobs: final status, events, callbacks and waiting workflows."""

import msgspec
import sqlalchemy as sa

from retinue.chat.completion_event import emit_chat_completed
from retinue.chat.models import (
    FINISHED_JOB_STATUSES,
    ChatJob,
    Conversation,
    ConversationStatus,
    JobStatus,
    Message,
)
from retinue.chat.replies.callbacks import enqueue_callback
from retinue.kit.context import Context
from retinue.kit.context.continuations import resume_continuation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import InternalError, RetinueError

_jobs, _conversations = ChatJob.__table__, Conversation.__table__
IS_UNFINISHED = _jobs.c.status.in_(
    [sa.literal(status.value) for status in JobStatus if status not in FINISHED_JOB_STATUSES]
)
_FINISH = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), IS_UNFINISHED)
    .values(
        status=sa.bindparam("status"),
        error=sa.bindparam("error", type_=_jobs.c.error.type),
        progress=None,
        context=None,
        completed_at=sa.bindparam("now"),
    )
)
# The job's completion event also covers its conversation, so `idle_timeout` must not report it again.
_CLOSE = Statement(
    sa.update(_conversations)
    .where(_conversations.c.id == sa.bindparam("conversation_id"))
    .values(status=ConversationStatus.closed.value)
)


class AlreadyEnded(InternalError):
    """The job has already ended."""

    status, code = 409, "conflict"
    shown_in = "chat jobs"


class TurnLost(InternalError):
    """The server stopped repeatedly while answering. Send the message again."""

    code = "turn_lost"
    shown_in = "chat jobs, messages"


async def finish_job(unit: Context, chat_job: ChatJob, status: JobStatus, error: RetinueError | None) -> None:
    error_data = {"code": error.code, "message": error.message} if error is not None else None
    if not await unit.db.execute(
        _FINISH, job_id=chat_job.id, status=status.value, error=error_data, now=unit.now
    ):
        raise AlreadyEnded


async def close_conversation(unit: Context, conversation_id: str) -> None:
    await unit.db.execute(_CLOSE, conversation_id=conversation_id)


async def notify_end(
    unit: Context, chat_job: ChatJob, error: RetinueError | None, reply: Message | None = None
) -> None:
    reason = "job_completed" if error is None else "job_failed"
    event_id = await emit_chat_completed(
        unit, chat_job.conversation_id, chat_job.agent_id, reason, job_id=chat_job.id
    )
    await enqueue_callback(unit, chat_job, event_id, reply)
    status = JobStatus.completed if error is None else JobStatus.failed
    await resume_waiter(unit, chat_job, status, error, reply)


async def resume_waiter(
    unit: Context, chat_job: ChatJob, status: JobStatus, error: RetinueError | None, reply: Message | None
) -> None:
    if chat_job.waiting is None:
        return
    details = reply.details if reply is not None else None
    result = {
        "status": status,
        "job_id": chat_job.id,
        "conversation_id": chat_job.conversation_id,
        "message_id": chat_job.message_id,
        "reply": reply.content if reply is not None else None,
        "output": details.output if details is not None else None,
        "usage": msgspec.to_builtins(details.usage) if details is not None else None,
        "usage_by_model": msgspec.to_builtins(details.usage_by_model) if details is not None else [],
        "estimated_cost_usd": details.estimated_cost_usd if details is not None else None,
        "trace_id": details.trace_id if details is not None else None,
        "error": {"code": error.code, "message": error.message} if error is not None else None,
    }
    await resume_continuation(unit, chat_job.waiting, result)
