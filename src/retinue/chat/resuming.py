"""Coming back to a reply that is or was being streamed, and stopping one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat import background, pausing
from retinue.chat.engine import MAX_SECONDS
from retinue.chat.errors import MessageNotFound, StreamExpired
from retinue.chat.live import LiveTurns
from retinue.chat.models import ENDED, ChatJob, ChatLog, Conversation, Message, PausedTurn
from retinue.chat.queries import sees_all
from retinue.chat.streaming import count_events, replay
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import Event

KEPT_S = 3600
_LOOK_EVERY_S = 0.5
_SAY_EVERY_S = 1.0

_messages = Message.__table__
_STOP: Statement[Any] = Statement(
    sa.update(_messages).where(_messages.c.id == sa.bindparam("question_id")).values(is_stopped=True)
)


# Whoever waits here for a reply of another process says so where that process looks.
_FOLLOW: Statement[Any] = Statement(
    sa.update(_messages)
    .where(_messages.c.id == sa.bindparam("question_id"))
    .values(updated_at=sa.bindparam("now"))
)


async def resume(ctx: Context, agent: Agent, message_id: str, after: int, level: int) -> EventStream:
    """The events after a number; those of a reply that another process gives come when it is done."""
    live = ctx.adapter(LiveTurns).find(message_id)
    question = await _question(ctx, agent, message_id)
    if live is not None:
        return EventStream(lambda: live.follow(after, level))
    reply = await ctx.db.get(Message, message_id)
    if reply is not None:
        if await ctx.db.find(PausedTurn, message_id=reply.id) is not None:
            waiting = ctx.apart()
            return EventStream(lambda: _when_continued(waiting, reply, after, level))
        if reply.updated_at < ctx.clock.ahead(-KEPT_S):
            raise StreamExpired
        return EventStream(lambda: replay(reply, after, level))
    if question.created_at < ctx.clock.ahead(-MAX_SECONDS):
        raise StreamExpired
    apart = ctx.apart()
    return EventStream(lambda: _when_stored(apart, question, message_id, after, level))


async def _when_stored(
    ctx: Context, question: Message, message_id: str, after: int, level: int
) -> AsyncGenerator[Event, None]:
    waited = say_at = 0.0
    while True:
        # The log first: they are stored together, so a turn that is logged has its reply or never gets one.
        logged = await ctx.db.find(ChatLog, conversation_id=question.conversation_id, message_id=message_id)
        reply = await ctx.db.get(Message, message_id)
        if reply is not None:
            break
        if logged is not None or waited > MAX_SECONDS:
            raise StreamExpired
        if waited >= say_at:
            say_at = waited + _SAY_EVERY_S
            async with ctx.unit() as unit:
                unit.db.execute_at_commit(_FOLLOW, question_id=question.id, now=ctx.now)
        await asyncio.sleep(_LOOK_EVERY_S)
        waited += _LOOK_EVERY_S
    async for event in replay(reply, after, level):
        yield event


async def _when_continued(
    ctx: Context, reply: Message, after: int, level: int
) -> AsyncGenerator[Event, None]:
    """Of a reply that waits for approvals: what there is, or for who has seen that, what comes after it."""
    known, waited = count_events(reply), 0.0
    while after >= known and waited < MAX_SECONDS:
        live = ctx.adapter(LiveTurns).find(reply.id)
        if live is not None:
            async with aclosing(live.follow(after, level)) as events:
                async for event in events:
                    yield event
            return
        current = await ctx.db.get(Message, reply.id)
        if current is None:
            raise StreamExpired
        reply = current
        if count_events(reply) > known:
            break
        await asyncio.sleep(_LOOK_EVERY_S)
        waited += _LOOK_EVERY_S
    async for event in replay(reply, after, level):
        yield event


async def stop(ctx: Context, agent: Agent, message_id: str) -> None:
    """Here at once, in another process within a second; a reply that has ended stays as it is."""
    question = await _question(ctx, agent, message_id)
    live = ctx.adapter(LiveTurns).find(message_id)
    if live is not None and live.is_own:
        live.stop()
        return
    async with ctx.unit() as unit:
        paused = await unit.db.find(PausedTurn, message_id=message_id)
        if paused is not None:
            await _stop_waiting(unit, paused)
        else:
            await unit.db.execute(_STOP, question_id=question.id)


async def _stop_waiting(unit: Context, paused: PausedTurn) -> None:
    job = await unit.db.get(ChatJob, paused.job_id) if paused.job_id is not None else None
    if job is not None and job.status not in ENDED:
        await background.cancel(unit, job)
        return
    await pausing.withdraw(unit, paused)
    await pausing.give_up(unit, paused)


async def _question(ctx: Context, agent: Agent, reply_id: str) -> Message:
    """The message that asked for a reply, if the caller may see it."""
    question = await ctx.db.find(Message, reply_id=reply_id)
    conversation = await ctx.db.get(Conversation, question.conversation_id) if question else None
    if question is None or conversation is None or conversation.agent_id != agent.id:
        raise MessageNotFound
    if not sees_all(ctx) and conversation.user_id != ctx.principal.id:
        raise MessageNotFound
    return question
