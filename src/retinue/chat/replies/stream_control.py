"""Resuming and stopping streamed replies."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.engine.time_limits import turn_seconds
from retinue.chat.errors import MessageNotFound, StreamExpired
from retinue.chat.models import FINISHED_JOB_STATUSES, ChatJob, ChatLog, Conversation, Message, PausedTurn
from retinue.chat.queries import sees_all_conversations
from retinue.chat.replies import background, followers
from retinue.chat.replies.live import STOPPED, LiveTurns
from retinue.chat.replies.streaming import count_events, replay_events
from retinue.chat.turn import suspension
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import ServerSentEvent

REPLAY_RETENTION_SECONDS = 3600
_POLL_SECONDS = 0.5

_messages = Message.__table__
_REQUEST_STOP = Statement(
    sa.update(_messages).where(_messages.c.id == sa.bindparam("question_id")).values(is_stopped=True)
)


async def resume_stream(ctx: Context, agent: Agent, message_id: str, after: int, level: int) -> EventStream:
    """Stream the events after number `after`; a reply of another process arrives once it is stored."""
    live = ctx.state(LiveTurns).find(message_id)
    question = await _require_question(ctx, agent, message_id)
    if live is not None:
        return EventStream(lambda: live.follow(after, level))
    reply = await ctx.db.get(Message, message_id)
    if reply is not None:
        if await ctx.db.find(PausedTurn, message_id=reply.id) is not None:
            waiting = ctx.detached()
            return EventStream(lambda: _replay_after_approval(waiting, reply, after, level))
        if reply.updated_at < ctx.clock.ahead(-REPLAY_RETENTION_SECONDS):
            raise StreamExpired
        return EventStream(lambda: replay_events(reply, after, level))
    if question.created_at < ctx.clock.ahead(-turn_seconds(ctx, agent)) or _is_lost(ctx, question):
        raise StreamExpired
    detached = ctx.detached()
    return EventStream(lambda: _replay_when_stored(detached, question, message_id, after, level))


def _is_lost(ctx: Context, question: Message) -> bool:
    """Return whether the process that wrote the reply is known to be gone.

    One server uses an SQLite database, so a turn from before its start ended with the server before it.
    """
    return ctx.db.dialect == "sqlite" and question.created_at < ctx.state(LiveTurns).opened_at


async def _replay_when_stored(
    ctx: Context, question: Message, message_id: str, after: int, level: int
) -> AsyncGenerator[ServerSentEvent, None]:
    lease = followers.FollowerLease(ctx, message_id)
    try:
        reply = await _wait_until_stored(ctx, question, message_id, lease)
    finally:
        await lease.release()
    async for event in replay_events(reply, after, level):
        yield event


async def _wait_until_stored(
    ctx: Context, question: Message, message_id: str, lease: followers.FollowerLease
) -> Message:
    """Return the reply once its process has stored it; the lease keeps that process from cancelling it."""
    waited_seconds = next_renewal_at = 0.0
    while True:
        # Read the log first: it is stored together with the reply, so a logged turn without one never gets
        # one.
        logged = await ctx.db.find(ChatLog, conversation_id=question.conversation_id, message_id=message_id)
        reply = await ctx.db.get(Message, message_id)
        if reply is not None:
            return reply
        if logged is not None or waited_seconds > ctx.instance.settings.turn_seconds:
            raise StreamExpired
        if waited_seconds >= next_renewal_at:
            next_renewal_at = waited_seconds + followers.RENEWAL_SECONDS
            await lease.renew()
        await asyncio.sleep(_POLL_SECONDS)
        waited_seconds += _POLL_SECONDS


async def _replay_after_approval(
    ctx: Context, reply: Message, after: int, level: int
) -> AsyncGenerator[ServerSentEvent, None]:
    """Replay a reply that waits for approvals, or follow its continuation if all of it was seen."""
    known_event_count, waited_seconds = count_events(reply), 0.0
    while after >= known_event_count and waited_seconds < ctx.instance.settings.turn_seconds:
        live = ctx.state(LiveTurns).find(reply.id)
        if live is not None:
            async with aclosing(live.follow(after, level)) as events:
                async for event in events:
                    yield event
            return
        current = await ctx.db.get(Message, reply.id)
        if current is None:
            raise StreamExpired
        reply = current
        if count_events(reply) > known_event_count:
            break
        await asyncio.sleep(_POLL_SECONDS)
        waited_seconds += _POLL_SECONDS
    async for event in replay_events(reply, after, level):
        yield event


async def stop_reply(ctx: Context, agent: Agent, message_id: str) -> None:
    """Stop a reply: at once on this machine, within a second elsewhere. Ended replies stay as they are."""
    await stop_reply_to(ctx, await _require_question(ctx, agent, message_id), message_id)


async def stop_reply_to(ctx: Context, question: Message, message_id: str) -> None:
    """Stop the reply to a question that the caller may see."""
    live = ctx.state(LiveTurns).find(message_id)
    if live is not None and live.is_own:
        live.stop()
        return
    async with ctx.unit() as unit:
        paused = await unit.db.find(PausedTurn, message_id=message_id)
        if paused is not None:
            await _cancel_suspended(unit, paused)
        else:
            await unit.db.execute(_REQUEST_STOP, question_id=question.id)
    ctx.instance.peers.publish(STOPPED, message_id)


async def _cancel_suspended(unit: Context, paused: PausedTurn) -> None:
    job = await unit.db.get(ChatJob, paused.job_id) if paused.job_id is not None else None
    if job is not None and job.status not in FINISHED_JOB_STATUSES:
        await background.cancel(unit, job)
        return
    await suspension.cancel_approvals(unit, paused)
    await suspension.cancel_suspended_turn(unit, paused)


async def _require_question(ctx: Context, agent: Agent, reply_id: str) -> Message:
    """Return the message that `reply_id` answers; raise MessageNotFound if the caller may not see it."""
    question = await ctx.db.find(Message, reply_id=reply_id)
    conversation = await ctx.db.get(Conversation, question.conversation_id) if question else None
    if question is None or conversation is None or conversation.agent_id != agent.id:
        raise MessageNotFound
    if not sees_all_conversations(ctx) and conversation.user_id != ctx.principal.id:
        raise MessageNotFound
    return question
