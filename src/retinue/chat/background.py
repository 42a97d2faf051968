"""Turns that nobody waits for: accepted now, answered by a worker, looked up by their id.

A worker that dies leaves the turn to another one. The job ends in the transaction that stores the reply, so
however often it was begun there is one reply.
"""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat import askers, pausing, turns
from retinue.chat.admission import count_turn, take_place
from retinue.chat.asking import Ask
from retinue.chat.callbacks import call_back
from retinue.chat.conducting import conduct
from retinue.chat.ending_jobs import (
    OPEN,
    AlreadyEnded,
    TurnLost,
    close_conversation,
    end_job,
    tell_end,
    tell_waiting,
)
from retinue.chat.engine import MAX_SECONDS
from retinue.chat.errors import TooManyTurns
from retinue.chat.models import (
    Channel,
    ChatJob,
    JobStatus,
    Message,
    PausedTurn,
    TurnStatus,
)
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import Part, ToolBegan
from retinue.events.posting import check_url
from retinue.kit.context import Context
from retinue.kit.continuations import Waiting
from retinue.kit.db.statements import Statement
from retinue.kit.errors import InvalidTransition, RetinueError
from retinue.kit.events.models import EventEntry
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import NoPayload, Retry, RetryLater, job
from retinue.kit.jobs.models import Job
from retinue.kit.limits import limits_for
from retinue.tenants.queries import own_tenant

LOOK_EVERY_S = 1.0
_NO_PLACE_PAUSE_S = 2.0

_jobs, _paused = ChatJob.__table__, PausedTurn.__table__
# It was answered as far as it could be: whoever approves has it gone on with.
_IS_PAUSED = sa.exists().where(_paused.c.tenant_id == _jobs.c.tenant_id, _paused.c.job_id == _jobs.c.id)
_START: Statement[Any] = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), OPEN, ~_IS_PAUSED)
    .values(
        status=JobStatus.running.value,
        attempt=sa.bindparam("attempt"),
        started_at=sa.func.coalesce(_jobs.c.started_at, sa.bindparam("now")),
    )
)
_PAUSE: Statement[Any] = Statement(
    sa.update(_jobs)
    .where(_jobs.c.id == sa.bindparam("job_id"), OPEN)
    .values(status=JobStatus.awaiting_approval.value)
)

_queued = Job.__table__
# A job holds its key for as long as it waits or runs: an open turn without one is nobody's any more.
_LOST: Statement[Any] = Statement(
    sa.select(_jobs.c.tenant_id, _jobs.c.id).where(
        _jobs.c.completed_at.is_(None),
        ~_IS_PAUSED,
        ~sa.exists().where(_queued.c.tenant_id == _jobs.c.tenant_id, _queued.c.dedupe_key == _jobs.c.id),
    )
)


class AcceptedTurn(msgspec.Struct):
    job_id: str


async def accept(ctx: Context, ask: Ask, callback_url: str | None = None) -> ChatJob:
    """Store the message and have a worker answer it."""
    if callback_url is not None:
        check_url(ctx, callback_url, "callback_url")
    await count_turn(ctx, ctx.principal.limits)
    # In the request's own transaction, with the answer that an Idempotency-Key keeps.
    return await accept_within(ctx, ctx, ask, callback_url=callback_url)


async def accept_within(
    unit: Context,
    ctx: Context,
    ask: Ask,
    *,
    callback_url: str | None = None,
    waiting: Waiting | None = None,
) -> ChatJob:
    """The same in a transaction of somebody else's; `ctx` says who asks, and `waiting` hears of the end."""
    ask = msgspec.structs.replace(ask, job_id=new_id(ChatJob.__prefix__))
    begun = await turns.begin(ctx, ask, unit)
    accepted = ChatJob(
        id=ask.job_id or "",
        agent_id=ask.agent.id,
        conversation_id=begun.conversation_id,
        user_message_id=begun.user_message_id,
        message_id=begun.reply_id,
        user_id=ctx.principal.id if ctx.principal.kind == "user" else None,
        context=ask.context,
        callback_url=callback_url,
        waiting=waiting,
    )
    await unit.db.insert(accepted)
    unit.defer(answer_accepted_turn, AcceptedTurn(accepted.id), dedupe_key=accepted.id)
    return accepted


async def cancel(ctx: Context, accepted: ChatJob) -> ChatJob:
    """Whichever worker answers it sees this within a second."""
    paused = await ctx.db.find(PausedTurn, job_id=accepted.id)
    if paused is not None:
        await pausing.withdraw(ctx, paused)
    try:
        await end_job(ctx, accepted, JobStatus.cancelled, None)
    except AlreadyEnded:
        current = await ctx.db.get(ChatJob, accepted.id)
        assert current is not None
        raise InvalidTransition(current.status, JobStatus.cancelled, []) from None
    if paused is not None:
        await pausing.give_up(ctx, paused)
    current = await ctx.db.get(ChatJob, accepted.id)
    assert current is not None
    await call_back(ctx, current, new_id(EventEntry.__prefix__))
    await tell_waiting(ctx, current, JobStatus.cancelled, None, None)
    return current


@job(queue="chat", timeout_s=MAX_SECONDS + 30, retry=Retry((0, 2, 10, 30, 60)), transactional=False)
async def answer_accepted_turn(ctx: Context, payload: AcceptedTurn) -> None:
    async with ctx.unit() as unit:
        started = await unit.db.execute(
            _START, job_id=payload.job_id, attempt=max(1, ctx.caller.attempt), now=unit.now
        )
    accepted = await ctx.db.get(ChatJob, payload.job_id) if started else None
    if accepted is None:
        return
    try:
        begun, as_user = await _again(ctx, accepted)
    except RetinueError as error:
        if error.status >= 500:
            raise
        await _fail(ctx, accepted, error)
        return
    tenant = await own_tenant(ctx)
    try:
        place = await take_place(as_user, limits_for(tenant.plan, tenant.limits), is_counted=False)
    except TooManyTurns as busy:
        raise RetryLater(_NO_PLACE_PAUSE_S, busy.message) from None
    try:
        await _Working(as_user, accepted, begun).until_done()
    finally:
        await place.give_back()


async def _again(ctx: Context, accepted: ChatJob) -> tuple[Begun, Context]:
    """The turn as it was accepted, in the name of whoever asked; what is gone by now cannot be answered."""
    agent = await ctx.db.get(Agent, accepted.agent_id)
    question = await ctx.db.get(Message, accepted.user_message_id)
    if agent is None or question is None:
        raise AlreadyEnded
    as_user = await askers.as_user(ctx, accepted.user_id)
    turns.require_answering(agent)
    ask = Ask(
        agent=agent,
        message=question.content,
        channel=Channel.background if accepted.waiting is None else Channel.workflow,
        conversation_id=question.conversation_id,
        context=accepted.context,
        job_id=accepted.id,
    )
    return await turns.begun_with(ctx, ask, question.id), as_user


async def _fail(ctx: Context, accepted: ChatJob, error: RetinueError) -> None:
    async with ctx.unit() as unit:
        await end_job(unit, accepted, JobStatus.failed, error)
        await tell_end(unit, accepted, error)


@job(every_s=300, transactional=False)
async def fail_lost_turns(ctx: Context, _payload: NoPayload) -> None:
    """Whoever waits for a turn that went down with every worker that tried it is told so."""
    for tenant_id, id in await ctx.system("jobs of every tenant").rows(_LOST):
        inside = ctx.apart()
        inside.act_in(tenant_id)
        accepted = await inside.db.get(ChatJob, id)
        if accepted is not None:
            with suppress(AlreadyEnded):
                await _fail(inside, accepted, TurnLost())


class _Working:
    """One worker's try at a turn: it tells how far it is, and stops when the job was cancelled."""

    def __init__(self, ctx: Context, accepted: ChatJob, begun: Begun) -> None:
        self._ctx = ctx
        self._job = accepted
        self._begun = begun
        self._progress: dict[str, Any] | None = None
        self._told: dict[str, Any] | None = None
        self._steps = 0
        self._is_cancelled = False
        self._has_ended = False

    async def until_done(self) -> None:
        """Raises what kept the end from being stored, so that the turn is tried again."""
        turn = asyncio.create_task(conduct(self._ctx, self._begun, hear=self._hear, store=self._store))
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=LOOK_EVERY_S)
                if not turn.done():
                    await self._look(turn)
        finally:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        if not self._has_ended and not self._is_cancelled and (error := turn.exception()) is not None:
            raise error

    async def _look(self, turn: "asyncio.Task[Message]") -> None:
        current = await self._ctx.db.get(ChatJob, self._job.id)
        if current is None or current.status is JobStatus.cancelled:
            self._is_cancelled = True
            turn.cancel()
        elif self._progress is not self._told:
            self._told = self._progress
            async with self._ctx.unit() as unit:
                await unit.db.update(current, progress=self._progress)

    def _hear(self, part: Part) -> None:
        if isinstance(part, ToolBegan) and not part.is_inner:
            self._steps += 1
            self._progress = {"step": self._steps, "tool": part.tool}

    async def _store(self, ctx: Context, begun: Begun, ending: Ending) -> Message | None:
        if ending.status is TurnStatus.cancelled and not self._is_cancelled:
            # The worker is stopped, not the turn: the next one answers it from the beginning.
            return None
        try:
            async with ctx.unit() as unit:
                if ending.paused is not None:
                    return await self._pause(unit, begun, ending)
                if ending.status is not TurnStatus.cancelled:
                    is_whole = ending.status is TurnStatus.completed
                    status = JobStatus.completed if is_whole else JobStatus.failed
                    await end_job(unit, self._job, status, ending.error)
                reply = await turns.store_ending(unit, begun, ending)
                await close_conversation(unit, begun.conversation_id)
                if ending.status is not TurnStatus.cancelled:
                    await tell_end(unit, self._job, ending.error, reply)
        except AlreadyEnded:
            self._has_ended = True
            raise
        self._has_ended = True
        return reply

    async def _pause(self, unit: Context, begun: Begun, ending: Ending) -> Message | None:
        if not await unit.db.execute(_PAUSE, job_id=self._job.id):
            raise AlreadyEnded
        reply = await pausing.store(unit, begun, ending)
        self._has_ended = True
        return reply
