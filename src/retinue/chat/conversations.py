"""Conversations after the fact: renamed, closed, rated, exported, deleted."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat import pausing
from retinue.chat.completing import tell_completed
from retinue.chat.errors import ConversationNotFound, MessageNotFound
from retinue.chat.forgetting import forget_events_later
from retinue.chat.models import ChatLog, Conversation, ConversationStatus, Message, PausedTurn, Speaker
from retinue.chat.queries import ALL_MESSAGES, find_visible
from retinue.chat.schemas import ConversationOut, Feedback, MessageOut
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.replies import Download

_RATINGS = {"positive": 1, "negative": -1, "none": 0}

_logs = ChatLog.__table__
_FORGET_TEXTS: Statement[Any] = Statement(
    sa.update(_logs)
    .where(_logs.c.conversation_id == sa.bindparam("conversation_id"))
    .values(
        user_message=None,
        assistant_message=None,
        tool_calls=sa.bindparam("no_calls", type_=_logs.c.tool_calls.type),
    )
)


async def rename(ctx: Context, conversation: Conversation, title: str) -> Conversation:
    return await ctx.db.update(conversation, title=title)


async def close(ctx: Context, conversation: Conversation) -> Conversation:
    """Closing twice is no fault; the next message opens it again."""
    held = await ctx.db.lock(Conversation, conversation.id)
    if held is None:
        raise ConversationNotFound
    if held.status is ConversationStatus.active:
        await ctx.db.update(held, status=ConversationStatus.closed)
        await tell_completed(ctx, held.id, held.agent_id, "closed")
    return held


async def delete(ctx: Context, conversation: Conversation) -> None:
    """The messages go, and their texts in the logs; that there was a turn stays on record.

    The conversation is held first: a turn that is just ending has stored its log by then, or finds nothing.
    """
    for paused in await ctx.db.all(PausedTurn, conversation_id=conversation.id):
        await pausing.withdraw(ctx, paused)
    await ctx.db.lock(Conversation, conversation.id)
    await ctx.db.execute(_FORGET_TEXTS, conversation_id=conversation.id, no_calls=[])
    await ctx.db.delete(conversation)
    forget_events_later(ctx, conversation)


async def rate(ctx: Context, agent_id: str, message_id: str, body: Feedback) -> Message:
    message = await ctx.db.get(Message, message_id)
    if message is None or message.role is not Speaker.assistant:
        raise MessageNotFound
    conversation = await find_visible(ctx, message.conversation_id)
    if conversation is None or conversation.agent_id != agent_id:
        raise MessageNotFound
    return await ctx.db.update(message, rating=_RATINGS[body.rating], comment=body.comment)


async def export(ctx: Context, conversation: Conversation, format: str) -> Download:
    messages = await ctx.db.rows(ALL_MESSAGES, conversation_id=conversation.id)
    if format == "md":
        content, mime_type = _as_markdown(conversation, messages), "text/markdown; charset=utf-8"
    else:
        content, mime_type = _as_json(conversation, messages), "application/json"

    async def whole() -> Any:
        yield content

    return Download(
        chunks=whole, size=len(content), mime_type=mime_type, filename=f"{conversation.id}.{format}"
    )


def _as_json(conversation: Conversation, messages: list[Message]) -> bytes:
    shown = {
        "conversation": ConversationOut.of(conversation),
        "messages": [MessageOut.shown(message) for message in messages],
    }
    return msgspec.json.format(msgspec.json.encode(shown))


def _as_markdown(conversation: Conversation, messages: list[Message]) -> bytes:
    parts = [f"# {conversation.title}"]
    parts += [f"**{message.role}** ({message.created_at})\n\n{message.content}" for message in messages]
    return ("\n\n".join(parts) + "\n").encode()
