"""Background turns: accepted now, answered by a worker, looked up by the job's id.

If a worker dies, another one answers the turn. The job ends in the transaction that stores the reply, so
there is one reply however often the turn was started.
"""

import asyncio
from contextlib import suppress

import msgspec
import sqlalchemy as sa

from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.agents.models import Agent
from retinue.chat.attachments.preparation import RequestedFiles, convert
from retinue.chat.engine.parts import ToolCallStarted, TurnPart
from retinue.chat.errors import JobNotFound, TooManyTurns
from retinue.chat.job_kinds import ANSWER_TURN, AcceptedTurn
from retinue.chat.models import ChatChannel, ChatJob, JobStatus, Message, PausedTurn, TurnStatus
from retinue.chat.replies.callbacks import enqueue_callback
from retinue.chat.replies.job_completion import (
    IS_UNFINISHED,
    AlreadyEnded,
    TurnLost,
    close_conversation,
    finish_job,
    notify_end,
    resume_waiter,
)
from retinue.chat.turn import storage, suspension
from retinue.chat.turn.admission import admit_for_worker
from retinue.chat.turn.placement import RequestedPlace
from retinue.chat.turn.preconditions import require_not_archived
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.runner import run_turn
from retinue.chat.turn.slots import acquire_turn_slot
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.events.signed_messages import check_url
from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.db.statements import Statement
from retinue.kit.errors import InvalidTransition, RetinueError
from retinue.kit.events.models import EventEntry
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import RetryLater
from retinue.kit.jobs.models import Job
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import limits_for
from retinue.tenants.queries import own_tenant
from retinue.users.acting_as import acting_as

POLL_SECONDS = 1.0
_BUSY_RETRY_SECONDS = 2.0

_jobs, _paused = ChatJob.__table__, PausedTurn.__table__
# A suspended turn is resumed by the decision on its approvals, not by this job.
_IS_SUSPENDED = sa.exists().where(_paused.c.tenant_id == _jobs.c.tenant_id, _paused.c.job_id == _jobs.c.id)
_START = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), IS_UNFINISHED, ~_IS_SUSPENDED)
    .values(
        status=JobStatus.running.value,
        attempt=sa.bindparam("attempt"),
        started_at=sa.func.coalesce(_jobs.c.started_at, sa.bindparam("now")),
    )
)
_MARK_SUSPENDED = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), IS_UNFINISHED)
    .values(status=JobStatus.awaiting_approval.value)
)

_queued = Job.__table__
# A job keeps its dedupe key while it waits or runs, so an open turn without one lost its worker.
_ORPHANED_JOBS = Statement(
    sa.select(_jobs.c.tenant_id, _jobs.c.id).where(
        _jobs.c.completed_at.is_(None),
        ~_IS_SUSPENDED,
        ~sa.exists().where(_queued.c.tenant_id == _jobs.c.tenant_id, _queued.c.dedupe_key == _jobs.c.id),
    )
)


async def accept(
    ctx: Context,
    request: TurnRequest,
    *,
    files: RequestedFiles | None = None,
    place: RequestedPlace | None = None,
    callback_url: str | None = None,
) -> ChatJob:
    """Store the message and have a worker answer it."""
    if callback_url is not None:
        check_url(ctx, callback_url, "callback_url")
    # In the request's own transaction, together with the response that an Idempotency-Key stores.
    pending = await admit_for_worker(ctx, _with_job_id(request), files=files, place=place)
    return await _enqueue(ctx, ctx, pending, callback_url=callback_url)


async def accept_within(
    unit: Context,
    ctx: Context,
    request: TurnRequest,
    *,
    files: RequestedFiles | None,
    waiting: ContinuationRef,
) -> ChatJob:
    """Accept a message within `unit` for the principal of `ctx`; `waiting` is resumed at the end."""
    pending = await admit_for_worker(ctx, _with_job_id(request), unit, files=files)
    return await _enqueue(unit, ctx, pending, waiting=waiting)


def _with_job_id(request: TurnRequest) -> TurnRequest:
    return msgspec.structs.replace(request, job_id=new_id(ChatJob.__prefix__))


async def _enqueue(
    unit: Context,
    ctx: Context,
    pending: PendingTurn,
    *,
    callback_url: str | None = None,
    waiting: ContinuationRef | None = None,
) -> ChatJob:
    request = pending.request
    chat_job = ChatJob(
        id=request.job_id or "",
        agent_id=request.agent.id,
        conversation_id=pending.conversation_id,
        user_message_id=pending.user_message_id,
        message_id=pending.reply_id,
        user_id=ctx.principal.owner_id or None,
        context=request.context,
        warnings=list(request.warnings),
        output=request.output,
        reasoning_effort=request.reasoning_effort,
        asks_before=list(request.asks_before) or None,
        callback_url=callback_url,
        waiting=waiting,
    )
    await unit.db.insert(chat_job)
    unit.defer(ANSWER_TURN, AcceptedTurn(chat_job.id), dedupe_key=chat_job.id)
    return chat_job


async def _require_job(ctx: Context, job_id: str) -> ChatJob:
    """Return the job; raise JobNotFound if its agent was deleted in the meantime."""
    chat_job = await ctx.db.get(ChatJob, job_id)
    if chat_job is None:
        raise JobNotFound
    return chat_job


async def cancel(ctx: Context, chat_job: ChatJob) -> ChatJob:
    """Cancel the job; a worker that is answering it notices within a second."""
    paused = await ctx.db.find(PausedTurn, job_id=chat_job.id)
    if paused is not None:
        await suspension.cancel_approvals(ctx, paused)
    try:
        await finish_job(ctx, chat_job, JobStatus.cancelled, None)
    except AlreadyEnded:
        current = await _require_job(ctx, chat_job.id)
        raise InvalidTransition(current.status, JobStatus.cancelled, []) from None
    if paused is not None:
        await suspension.cancel_suspended_turn(ctx, paused)
    current = await _require_job(ctx, chat_job.id)
    await enqueue_callback(ctx, current, new_id(EventEntry.__prefix__))
    await resume_waiter(ctx, current, JobStatus.cancelled, None, None)
    return current


async def answer_turn(ctx: Context, payload: AcceptedTurn) -> None:
    async with ctx.unit() as unit:
        started = await unit.db.execute(
            _START, job_id=payload.job_id, attempt=max(1, ctx.caller.attempt), now=unit.now
        )
    chat_job = await ctx.db.get(ChatJob, payload.job_id) if started else None
    if chat_job is None:
        return
    try:
        pending, as_user = await _rebuild_turn(ctx, chat_job)
    except ReadersBusy as busy:
        raise RetryLater(_BUSY_RETRY_SECONDS, busy.message) from None
    except RetinueError as error:
        if error.status >= 500:
            raise
        await _fail(ctx, chat_job, error)
        return
    tenant = await own_tenant(ctx)
    try:
        slot = await acquire_turn_slot(
            as_user, limits_for(tenant.plan, tenant.limits), charges_turn_rate=False
        )
    except TooManyTurns as busy:
        raise RetryLater(_BUSY_RETRY_SECONDS, busy.message) from None
    try:
        await _BackgroundAttempt(as_user, chat_job, pending).run_to_end()
    finally:
        await slot.release()


async def _rebuild_turn(ctx: Context, chat_job: ChatJob) -> tuple[PendingTurn, Context]:
    """Rebuild the accepted turn on behalf of its requester; raise AlreadyEnded if it was deleted."""
    agent = await ctx.db.get(Agent, chat_job.agent_id)
    question = await ctx.db.get(Message, chat_job.user_message_id)
    if agent is None or question is None:
        raise AlreadyEnded
    as_user = await acting_as(ctx, chat_job.user_id, requires="agents:chat")
    require_not_archived(agent)
    request = TurnRequest(
        agent=agent,
        message=question.content,
        channel=ChatChannel.background if chat_job.waiting is None else ChatChannel.workflow,
        conversation_id=question.conversation_id,
        context=chat_job.context,
        job_id=chat_job.id,
        warnings=tuple(chat_job.warnings),
        output=chat_job.output,
        reasoning_effort=chat_job.reasoning_effort,
        attachments=tuple(question.attachments or ()),
        asks_before=tuple(chat_job.asks_before or ()),
    )
    if not all(attachment.is_converted for attachment in request.attachments):
        request = await convert(as_user, request)
        async with ctx.unit() as unit:
            await unit.db.update(question, attachments=list(request.attachments))
    return await storage.load_pending_turn(ctx, request, question.id), as_user


async def _fail(ctx: Context, chat_job: ChatJob, error: RetinueError) -> None:
    async with ctx.unit() as unit:
        await finish_job(unit, chat_job, JobStatus.failed, error)
        await notify_end(unit, chat_job, error)


async def fail_lost_turns(ctx: Context) -> None:
    """Fail turns whose job was lost with its workers, so that nobody waits for them forever."""
    for tenant_id, id in await ctx.system("jobs of every tenant").rows(_ORPHANED_JOBS):
        inside = ctx.detached()
        inside.bind_tenant(tenant_id)
        chat_job = await inside.db.get(ChatJob, id)
        if chat_job is not None:
            with suppress(AlreadyEnded):
                await _fail(inside, chat_job, TurnLost())


class _BackgroundAttempt:
    """One worker's attempt at a turn: it reports progress and stops when the job is cancelled."""

    def __init__(self, ctx: Context, chat_job: ChatJob, pending: PendingTurn) -> None:
        self._ctx = ctx
        self._job = chat_job
        self._pending = pending
        self._progress: JsonObject | None = None
        self._reported_progress: JsonObject | None = None
        self._steps = 0
        self._is_cancelled = False
        self._has_ended = False

    async def run_to_end(self) -> None:
        """Run the turn; raise the error that kept its result from being stored, so the job is retried."""
        turn = asyncio.create_task(
            run_turn(self._ctx, self._pending, on_part=self._on_part, store=self._store)
        )
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=POLL_SECONDS)
                if not turn.done():
                    await self._poll(turn)
        finally:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        if not self._has_ended and not self._is_cancelled and (error := turn.exception()) is not None:
            raise error

    async def _poll(self, turn: "asyncio.Task[Message]") -> None:
        current = await self._ctx.db.get(ChatJob, self._job.id)
        if current is None or current.status is JobStatus.cancelled:
            self._is_cancelled = True
            turn.cancel()
        elif self._progress is not self._reported_progress:
            self._reported_progress = self._progress
            async with self._ctx.unit() as unit:
                await unit.db.update(current, progress=self._progress)

    def _on_part(self, part: TurnPart) -> None:
        if isinstance(part, ToolCallStarted) and not part.is_from_sub_agent:
            self._steps += 1
            self._progress = {"step": self._steps, "tool": part.tool}

    async def _store(self, ctx: Context, pending: PendingTurn, result: TurnResult) -> Message | None:
        if result.status is TurnStatus.cancelled and not self._is_cancelled:
            # The worker is shutting down, not the turn: the next worker answers it from the beginning.
            return None
        try:
            async with ctx.unit() as unit:
                if result.paused is not None:
                    return await self._suspend(unit, pending, result)
                if result.status is not TurnStatus.cancelled:
                    is_whole = result.status is TurnStatus.completed
                    status = JobStatus.completed if is_whole else JobStatus.failed
                    await finish_job(unit, self._job, status, result.error)
                reply = await storage.store_result_within(unit, pending, result)
                await close_conversation(unit, pending.conversation_id)
                if result.status is not TurnStatus.cancelled:
                    await notify_end(unit, self._job, result.error, reply)
        except AlreadyEnded:
            self._has_ended = True
            raise
        self._has_ended = True
        return reply

    async def _suspend(self, unit: Context, pending: PendingTurn, result: TurnResult) -> Message | None:
        if not await unit.db.execute(_MARK_SUSPENDED, job_id=self._job.id):
            raise AlreadyEnded
        reply = await suspension.suspend_turn(unit, pending, result)
        self._has_ended = True
        return reply
