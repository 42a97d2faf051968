"""Transcripts of a visitor's conversation, without tools and internal ids."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.attachment_schemas import MessageAttachmentOut
from retinue.chat.engine.parts import FinishReason
from retinue.chat.engine.time_limits import turn_seconds
from retinue.chat.models import ChatLog, Conversation, Message, MessageStatus, Speaker
from retinue.chat.turn.request import session_key
from retinue.embed import visitors, widget_designs
from retinue.embed.schemas import AgentName, Transcript, TranscriptMessage, TranscriptRead
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement

MAX_TRANSCRIPT_MESSAGES = 100
MAX_WAIT_SECONDS = 20.0
_POLL_SECONDS = 1.0

_messages, _logs = Message.__table__, ChatLog.__table__
_ENDED = Statement(
    sa.select(_logs.c.message_id).where(_logs.c.conversation_id == sa.bindparam("conversation_id"))
)
_LATEST = record_statement(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id", type_=sa.Text()))
    .order_by(_messages.c.position.desc())
    .limit(MAX_TRANSCRIPT_MESSAGES),
)


async def read(ctx: Context, agent: Agent, body: TranscriptRead) -> Transcript:
    visitor_id = await visitors.verify_visitor_id(ctx, body.user)
    key = session_key(ctx.principal.id, visitor_id, body.session_id)
    conversation = await ctx.db.find(Conversation, agent_id=agent.id, session_key=key)
    if conversation is not None and body.wait_for is not None:
        await _wait_until_decided(ctx, conversation, body.wait_for)
    newest_first = (
        await ctx.db.rows(_LATEST, conversation_id=conversation.id) if conversation is not None else []
    )
    failed = await _find_failed(ctx, agent, newest_first)
    return Transcript(
        session_id=body.session_id,
        conversation_id=conversation.id if conversation is not None else None,
        messages=[
            await _render_message(ctx, agent, message, has_failed=message.id in failed)
            for message in reversed(newest_first)
        ],
        agent=AgentName.of(agent),
    )


async def _wait_until_decided(ctx: Context, conversation: Conversation, message_id: str) -> None:
    """Return when the reply no longer waits for an approval, and after `MAX_WAIT_SECONDS` in any case."""
    for _ in range(int(MAX_WAIT_SECONDS / _POLL_SECONDS)):
        reply = await ctx.db.get(Message, message_id)
        if reply is None or reply.conversation_id != conversation.id or not _is_waiting(reply):
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(ctx.instance.stopping.wait(), _POLL_SECONDS)
            return


async def _find_failed(ctx: Context, agent: Agent, messages: Sequence[Message]) -> set[str]:
    """Return the ids of messages whose turn ended without a reply, and of replies that were cut off."""
    stored = {message.id for message in messages}
    unanswered = {
        message.reply_id: message
        for message in messages
        if message.reply_id is not None and message.reply_id not in stored
    }
    failed = {message.id for message in messages if _is_cut_off(message)}
    if not unanswered:
        return failed
    conversation_id = messages[0].conversation_id
    ended = {row[0] for row in await ctx.db.rows(_ENDED, conversation_id=conversation_id)}
    # The turn of a process that was killed has no log; it can no longer be answered after its time limit.
    too_old = ctx.clock.ahead(-turn_seconds(ctx, agent))
    return failed | {
        question.id
        for reply_id, question in unanswered.items()
        if reply_id in ended or question.created_at < too_old
    }


def _is_waiting(message: Message) -> bool:
    details = message.details
    return details is not None and details.finish_reason is FinishReason.awaiting_approval


def _is_cut_off(message: Message) -> bool:
    """Return whether this is a part of a reply that neither waits nor was stopped by its visitor."""
    details = message.details
    ended_early = {FinishReason.cancelled, FinishReason.awaiting_approval}
    return (
        message.status is MessageStatus.incomplete
        and details is not None
        and details.finish_reason not in ended_early
    )


async def _render_message(
    ctx: Context, agent: Agent, message: Message, *, has_failed: bool
) -> TranscriptMessage:
    sources = message.details.sources if message.details is not None else ()
    return TranscriptMessage(
        id=message.id,
        role="user" if message.role is Speaker.user else "assistant",
        content=message.content,
        created_at=message.created_at,
        is_waiting=_is_waiting(message),
        has_failed=has_failed,
        sources=await widget_designs.visible_sources(ctx, agent, message.content, sources),
        attachments=[MessageAttachmentOut.of(attachment) for attachment in message.attachments or ()],
    )
