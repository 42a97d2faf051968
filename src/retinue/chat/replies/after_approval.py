"""Turns that resume after an approval: a worker makes the approved calls and lets the model answer.

The transaction that stores the last decision enqueues the job; the one that stores the result deletes the
paused turn. If a worker dies in between, another one repeats the approved calls, and the reply is stored
once.
"""

import asyncio
from contextlib import suppress

import msgspec
import sqlalchemy as sa

from retinue.chat.engine import Resumption
from retinue.chat.engine.parts import CallError
from retinue.chat.errors import TooManyTurns
from retinue.chat.job_kinds import RESUME_TURN, TurnToContinue
from retinue.chat.models import ChatJob, Conversation, JobStatus, Message, PausedTurn, TurnStatus
from retinue.chat.replies.job_completion import (
    AlreadyEnded,
    TurnLost,
    close_conversation,
    finish_job,
    notify_end,
)
from retinue.chat.replies.resumed_stream import ResumedStream
from retinue.chat.trail import TrailRecorder
from retinue.chat.turn import suspension
from retinue.chat.turn.preconditions import require_not_archived
from retinue.chat.turn.runner import PartListener, run_turn
from retinue.chat.turn.slots import acquire_turn_slot
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.jobs.declare import RetryLater
from retinue.kit.jobs.models import Job
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import limits_for
from retinue.kit.principal import Principal
from retinue.tenants.queries import own_tenant
from retinue.users.acting_as import acting_as

POLL_SECONDS = 1.0
_BUSY_RETRY_SECONDS = 2.0

_jobs, _paused, _queued = ChatJob.__table__, PausedTurn.__table__, Job.__table__
_SET_STATUS = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), _jobs.c.completed_at.is_(None))
    .values(status=sa.bindparam("status"))
)
# A job keeps its dedupe key while it waits or runs, so a decided turn without one lost its worker.
_ORPHANED_TURNS = Statement(
    sa.select(_paused.c.tenant_id, _paused.c.id).where(
        _paused.c.is_decided == sa.true(),
        ~sa.exists().where(_queued.c.tenant_id == _paused.c.tenant_id, _queued.c.dedupe_key == _paused.c.id),
    )
)


async def record_decision(ctx: Context, key: str, result: JsonObject) -> None:
    """Store a decision; the last one that the turn waits for resumes it."""
    locked = await ctx.db.lock(PausedTurn, key)
    if locked is None or locked.is_decided:
        return
    decisions = {**locked.decisions, result["approval_id"]: suspension.parse_decision(result)}
    is_decided = all(
        call.approval_id in decisions for _, call in locked.state.pending_approvals(locked.agent_id)
    )
    await ctx.db.update(locked, decisions=decisions, is_decided=is_decided)
    if not is_decided:
        return
    if locked.job_id is not None:
        await ctx.db.execute(_SET_STATUS, job_id=locked.job_id, status=JobStatus.running.value)
    ctx.defer(RESUME_TURN, TurnToContinue(locked.id), dedupe_key=locked.id)


async def resume_turn(ctx: Context, payload: TurnToContinue) -> None:
    paused = await ctx.db.get(PausedTurn, payload.paused_id)
    if paused is None or not paused.is_decided:
        return
    ctx.caller = msgspec.structs.replace(ctx.caller, lineage=paused.lineage)
    try:
        attempt = await _rebuild_attempt(ctx, paused)
    except RetinueError as error:
        if error.status >= 500:
            raise
        await _fail(ctx, paused, error)
        return
    if attempt is None:
        return
    tenant = await own_tenant(ctx)
    try:
        slot = await acquire_turn_slot(
            attempt.ctx, limits_for(tenant.plan, tenant.limits), charges_turn_rate=False
        )
    except TooManyTurns as busy:
        raise RetryLater(_BUSY_RETRY_SECONDS, busy.message) from None
    try:
        await attempt.run_to_end()
    finally:
        await slot.release()


async def _rebuild_attempt(ctx: Context, paused: PausedTurn) -> "_ResumedAttempt | None":
    """Rebuild the turn on behalf of its requester; return None if the agent or message was deleted."""
    pending = await suspension.rebuild_pending_turn(ctx, paused, loads_history=True)
    reply = await ctx.db.get(Message, paused.message_id)
    if pending is None or reply is None or reply.details is None:
        return None
    if paused.asker_kind == "embed_key":
        requester_ctx = _acting_as_embed_key(ctx, paused.asker_id, paused.agent_id)
    else:
        requester_ctx = await acting_as(ctx, paused.asker_id, requires="agents:chat")
    require_not_archived(pending.request.agent)
    resumed = Resumption(
        standing=paused.state, decisions=paused.decisions, text=reply.content, details=reply.details
    )
    return _ResumedAttempt(requester_ctx, paused, pending, resumed, reply)


async def _fail(ctx: Context, paused: PausedTurn, error: RetinueError) -> None:
    """End a turn that cannot resume, and report the error to its listeners."""
    reply = await ctx.db.get(Message, paused.message_id)
    pending = await suspension.rebuild_pending_turn(ctx, paused)
    if reply is None or pending is None:
        return
    turn_result = suspension.build_cut_off_result(
        reply, TurnStatus.failed, error=CallError(error.code, error.message)
    )
    with suppress(AlreadyEnded):
        await _store_result(ctx, pending, paused, msgspec.structs.replace(turn_result, error=error))


async def fail_lost_resumptions(ctx: Context) -> None:
    """Fail turns whose job was lost with its workers, so that nobody waits for them forever."""
    for tenant_id, id in await ctx.system("turns of every tenant").rows(_ORPHANED_TURNS):
        inside = ctx.detached()
        inside.bind_tenant(tenant_id)
        paused = await inside.db.get(PausedTurn, id)
        if paused is not None:
            await _fail(inside, paused, TurnLost())


async def _store_result(
    ctx: Context, pending: PendingTurn, paused: PausedTurn, turn_result: TurnResult
) -> Message | None:
    """Store the result, or the next pause, of a turn and its job; raise AlreadyEnded if too late."""
    async with ctx.unit() as unit:
        chat_job = await unit.db.lock(ChatJob, paused.job_id) if paused.job_id is not None else None
        await unit.db.lock(Conversation, paused.conversation_id)
        locked = await unit.db.lock(PausedTurn, paused.id)
        if locked is None:
            raise AlreadyEnded
        if turn_result.paused is not None:
            if chat_job is not None:
                waiting = JobStatus.awaiting_approval.value
                await unit.db.execute(_SET_STATUS, job_id=chat_job.id, status=waiting)
            return await suspension.suspend_again(unit, pending, locked, turn_result)
        reply = await suspension.finish_suspended_turn(unit, pending, locked, turn_result)
        if chat_job is not None:
            is_whole = turn_result.status is TurnStatus.completed
            await finish_job(
                unit, chat_job, JobStatus.completed if is_whole else JobStatus.failed, turn_result.error
            )
            await close_conversation(unit, pending.conversation_id)
            await notify_end(unit, chat_job, turn_result.error, reply)
        return reply


class _ResumedAttempt:
    """One worker's attempt to finish a turn; it stops when the turn is cancelled."""

    def __init__(
        self,
        ctx: Context,
        paused: PausedTurn,
        pending: PendingTurn,
        resumed: Resumption,
        reply: Message,
    ) -> None:
        self.ctx = ctx
        self._reply = reply
        self._paused = paused
        self._pending = pending
        self._resumed = resumed
        # Only a streamed reply has listeners that may reconnect.
        self._trail = (
            TrailRecorder.resume(reply.trail, len(resumed.text)) if reply.trail is not None else None
        )
        self._has_ended = False
        self._is_cancelled = False

    async def run_to_end(self) -> None:
        if self._trail is None:
            await self._run_rest(None)
            return
        stream = ResumedStream(self.ctx, self._reply)
        try:
            await self._run_rest(stream.on_part)
            await stream.notify_end()
        finally:
            stream.close()

    async def _run_rest(self, on_part: PartListener | None) -> None:
        """Run the turn; raise the error that kept its result from being stored, so the job is retried."""
        turn = asyncio.create_task(
            run_turn(
                self.ctx,
                self._pending,
                on_part=on_part,
                trail=self._trail,
                store=self._store,
                resumed=self._resumed,
            )
        )
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=POLL_SECONDS)
                if not turn.done() and await self.ctx.db.get(PausedTurn, self._paused.id) is None:
                    self._is_cancelled = True
                    turn.cancel()
        finally:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        if not self._has_ended and not self._is_cancelled and (error := turn.exception()) is not None:
            raise error

    async def _store(self, ctx: Context, pending: PendingTurn, turn_result: TurnResult) -> Message | None:
        if turn_result.status is TurnStatus.cancelled:
            # Either this worker is shutting down and another one continues, or the turn was ended elsewhere.
            return None
        try:
            reply = await _store_result(ctx, pending, self._paused, turn_result)
        except AlreadyEnded:
            self._has_ended = True
            raise
        self._has_ended = True
        return reply


def _acting_as_embed_key(ctx: Context, key_id: str, agent_id: str) -> Context:
    principal = Principal(
        kind="embed_key", id=key_id, tenant_id=ctx.tenant_id, role="embed_key", agent_id=agent_id
    )
    return Context(ctx.instance, principal, ctx.caller, reads_outside_transaction=True)
