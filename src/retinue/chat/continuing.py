"""Turns that go on: with the last approval a worker makes the calls and lets the model answer.

The transaction of the decision asks for the job, and the one that stores the end removes what it goes on
from. A worker that dies between them leaves the turn to another one: what was approved is then done again,
and the reply is stored once.
"""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat import askers, pausing, turns
from retinue.chat.admission import take_place
from retinue.chat.conducting import Hear, conduct
from retinue.chat.continued_streams import ContinuedStream
from retinue.chat.ending_jobs import AlreadyEnded, TurnLost, close_conversation, end_job, tell_end
from retinue.chat.engine import MAX_SECONDS, Resumption
from retinue.chat.errors import TooManyTurns
from retinue.chat.models import ChatJob, Conversation, JobStatus, Message, PausedTurn, TurnStatus
from retinue.chat.trails import Trail
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import CallError, Part
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.jobs.declare import NoPayload, Retry, RetryLater, job
from retinue.kit.jobs.models import Job
from retinue.kit.limits import limits_for
from retinue.tenants.queries import own_tenant

LOOK_EVERY_S = 1.0
_NO_PLACE_PAUSE_S = 2.0

_jobs, _paused, _queued = ChatJob.__table__, PausedTurn.__table__, Job.__table__
_SET_STATUS: Statement[Any] = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), _jobs.c.completed_at.is_(None))
    .values(status=sa.bindparam("status"))
)
# A job holds its key for as long as it waits or runs: a decided turn without one is nobody's any more.
_LOST: Statement[Any] = Statement(
    sa.select(_paused.c.tenant_id, _paused.c.id).where(
        _paused.c.is_decided == sa.true(),
        ~sa.exists().where(_queued.c.tenant_id == _paused.c.tenant_id, _queued.c.dedupe_key == _paused.c.id),
    )
)


class TurnToContinue(msgspec.Struct):
    paused_id: str


async def take_decision(ctx: Context, key: str, result: dict[str, Any]) -> None:
    """Keep an answer; with the last one that a turn waits for, it goes on."""
    held = await ctx.db.lock(PausedTurn, key)
    if held is None or held.is_decided:
        return
    decisions = {**held.decisions, result["approval_id"]: pausing.decided(result)}
    is_decided = all(one.approval_id in decisions for _, one in held.state.questions(held.agent_id))
    await ctx.db.update(held, decisions=decisions, is_decided=is_decided)
    if not is_decided:
        return
    if held.job_id is not None:
        await ctx.db.execute(_SET_STATUS, job_id=held.job_id, status=JobStatus.running.value)
    ctx.defer(continue_turn, TurnToContinue(held.id), dedupe_key=held.id)


@job(queue="chat", timeout_s=MAX_SECONDS + 30, retry=Retry((0, 2, 10, 30, 60)), transactional=False)
async def continue_turn(ctx: Context, payload: TurnToContinue) -> None:
    paused = await ctx.db.get(PausedTurn, payload.paused_id)
    if paused is None or not paused.is_decided:
        return
    try:
        going_on = await _again(ctx, paused)
    except RetinueError as error:
        if error.status >= 500:
            raise
        await _fail(ctx, paused, error)
        return
    if going_on is None:
        return
    tenant = await own_tenant(ctx)
    try:
        place = await take_place(going_on.ctx, limits_for(tenant.plan, tenant.limits), is_counted=False)
    except TooManyTurns as busy:
        raise RetryLater(_NO_PLACE_PAUSE_S, busy.message) from None
    try:
        await going_on.until_done()
    finally:
        await place.give_back()


async def _again(ctx: Context, paused: PausedTurn) -> "_Continuing | None":
    """In the name of whoever asked; what is gone by now cannot be gone on with."""
    begun = await pausing.again(ctx, paused)
    reply = await ctx.db.get(Message, paused.message_id)
    if begun is None or reply is None or reply.details is None:
        return None
    if paused.asker_kind == "user":
        as_asker = await askers.as_user(ctx, paused.asker_id)
    else:
        as_asker = askers.as_embed_key(ctx, paused.asker_id, paused.agent_id)
    turns.require_answering(begun.ask.agent)
    resumed = Resumption(
        standing=paused.state, decisions=paused.decisions, text=reply.content, details=reply.details
    )
    return _Continuing(as_asker, paused, begun, resumed, reply)


async def _fail(ctx: Context, paused: PausedTurn, error: RetinueError) -> None:
    """End a turn that cannot go on; whoever waits for it is told why."""
    reply = await ctx.db.get(Message, paused.message_id)
    begun = await pausing.again(ctx, paused)
    if reply is None or begun is None:
        return
    ending = pausing.cut_off(reply, TurnStatus.failed, error=CallError(error.code, error.message))
    with suppress(AlreadyEnded):
        await _end(ctx, begun, paused, msgspec.structs.replace(ending, error=error))


@job(every_s=300, transactional=False)
async def fail_lost_continuations(ctx: Context, _payload: NoPayload) -> None:
    """Whoever waits for a turn that went down with every worker that tried it is told so."""
    for tenant_id, id in await ctx.system("turns of every tenant").rows(_LOST):
        inside = ctx.apart()
        inside.act_in(tenant_id)
        paused = await inside.db.get(PausedTurn, id)
        if paused is not None:
            await _fail(inside, paused, TurnLost())


async def _end(ctx: Context, begun: Begun, paused: PausedTurn, ending: Ending) -> Message | None:
    """Store the end, or the next pause, of a turn and of its job; first come, first stored."""
    async with ctx.unit() as unit:
        accepted = await unit.db.lock(ChatJob, paused.job_id) if paused.job_id is not None else None
        await unit.db.lock(Conversation, paused.conversation_id)
        held = await unit.db.lock(PausedTurn, paused.id)
        if held is None:
            raise AlreadyEnded
        if ending.paused is not None:
            if accepted is not None:
                waiting = JobStatus.awaiting_approval.value
                await unit.db.execute(_SET_STATUS, job_id=accepted.id, status=waiting)
            return await pausing.store_again(unit, begun, held, ending)
        reply = await pausing.conclude(unit, begun, held, ending)
        if accepted is not None:
            is_whole = ending.status is TurnStatus.completed
            await end_job(unit, accepted, JobStatus.completed if is_whole else JobStatus.failed, ending.error)
            await close_conversation(unit, begun.conversation_id)
            await tell_end(unit, accepted, ending.error, reply)
        return reply


class _Continuing:
    """One worker's try at the rest of a turn; it stops when nobody wants the turn any more."""

    def __init__(
        self,
        ctx: Context,
        paused: PausedTurn,
        begun: Begun,
        resumed: Resumption,
        reply: Message,
    ) -> None:
        self.ctx = ctx
        self._reply = reply
        self._paused = paused
        self._begun = begun
        self._resumed = resumed
        # Only a reply that was streamed has listeners, who may come back.
        self._trail = Trail(reply.trail, len(resumed.text)) if reply.trail is not None else None
        self._has_ended = False
        self._is_given_up = False

    async def until_done(self) -> None:
        if self._trail is None:
            await self._go_on(None, None)
            return
        stream = ContinuedStream(self.ctx, self._reply)
        keep = self._trail.hear

        def hear(part: Part) -> None:
            keep(part)
            stream.hear(part)

        try:
            await self._go_on(hear, self._trail.steps)
            await stream.tell_end()
        finally:
            stream.close()

    async def _go_on(self, hear: Hear | None, trail: list[int | str] | None) -> None:
        """Raises what kept the end from being stored, so that the turn is tried again."""
        turn = asyncio.create_task(
            conduct(self.ctx, self._begun, hear=hear, trail=trail, store=self._store, resumed=self._resumed)
        )
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=LOOK_EVERY_S)
                if not turn.done() and await self.ctx.db.get(PausedTurn, self._paused.id) is None:
                    self._is_given_up = True
                    turn.cancel()
        finally:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        if not self._has_ended and not self._is_given_up and (error := turn.exception()) is not None:
            raise error

    async def _store(self, ctx: Context, begun: Begun, ending: Ending) -> Message | None:
        if ending.status is TurnStatus.cancelled:
            # The worker is stopped, and the next one goes on; or the turn was ended by someone else.
            return None
        try:
            reply = await _end(ctx, begun, self._paused, ending)
        except AlreadyEnded:
            self._has_ended = True
            raise
        self._has_ended = True
        return reply
