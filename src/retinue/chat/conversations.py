"""Operations on existing conversations: rename, archive, close, rate, export and delete."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.attachments.lifetimes import expire_files_of_conversation
from retinue.chat.completion_event import emit_chat_completed
from retinue.chat.errors import ConversationNotFound, MessageNotFound
from retinue.chat.event_erasure import enqueue_event_erasure
from retinue.chat.message_list import show_path
from retinue.chat.message_tree import load_messages, load_tree, tree_of
from retinue.chat.models import (
    ChatLog,
    Conversation,
    ConversationStatus,
    ConversationSummary,
    Message,
    PausedTurn,
    Speaker,
)
from retinue.chat.queries import ALL_MESSAGES, find_visible_conversation
from retinue.chat.schemas import (
    RATINGS,
    ConversationDetail,
    ConversationOut,
    ConversationUpdate,
    Feedback,
    MessageOut,
)
from retinue.chat.shares import ReadableConversation
from retinue.chat.turn import suspension
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import Download
from retinue.kit.schema.base import sent_fields

_logs = ChatLog.__table__
_ERASE_TEXTS = Statement(
    sa.update(_logs)
    .where(_logs.c.conversation_id == sa.bindparam("conversation_id"))
    .values(
        user_message=None,
        assistant_message=None,
        tool_calls=sa.bindparam("no_calls", type_=_logs.c.tool_calls.type),
    )
)


async def render_conversation(ctx: Context, readable: ReadableConversation) -> ConversationDetail:
    conversation = readable.conversation
    id = conversation.summary_id if readable.share is None else None
    summary = None if id is None else await ctx.db.get(ConversationSummary, id)
    return ConversationDetail.of(conversation, compaction=None if summary is None else summary.report)


async def update(ctx: Context, conversation: Conversation, body: ConversationUpdate) -> Conversation:
    changes = sent_fields(body)
    if not changes:
        raise Invalid({"title": "is required if `archived` is not sent"})
    return await ctx.db.update(conversation, **changes)


async def close(ctx: Context, conversation: Conversation) -> Conversation:
    """Close the conversation; does nothing if it is closed. The next message opens it again."""
    locked = await ctx.db.lock(Conversation, conversation.id)
    if locked is None:
        raise ConversationNotFound
    if locked.status is ConversationStatus.active:
        await ctx.db.update(locked, status=ConversationStatus.closed)
        await emit_chat_completed(ctx, locked.id, locked.agent_id, "closed")
    return locked


async def delete(ctx: Context, conversation: Conversation) -> None:
    """Delete the conversation and its messages, and erase their texts from the logs.

    The log entries remain. The conversation is locked first, so a turn that is ending has either stored its
    log by then or finds no conversation.
    """
    for paused in await ctx.db.all(PausedTurn, conversation_id=conversation.id):
        await suspension.cancel_approvals(ctx, paused)
    await ctx.db.lock(Conversation, conversation.id)
    await ctx.db.execute(_ERASE_TEXTS, conversation_id=conversation.id, no_calls=[])
    await expire_files_of_conversation(ctx, conversation.id)
    await ctx.db.delete(conversation)
    enqueue_event_erasure(ctx, conversation)


async def rate(ctx: Context, agent_id: str, message_id: str, body: Feedback) -> Message:
    message = await ctx.db.get(Message, message_id)
    if message is None or message.role is not Speaker.assistant:
        raise MessageNotFound
    conversation = await find_visible_conversation(ctx, message.conversation_id)
    if conversation is None or conversation.agent_id != agent_id:
        raise MessageNotFound
    return await set_rating(ctx, message, body)


async def set_rating(ctx: Context, message: Message, body: Feedback) -> Message:
    reasons = list(dict.fromkeys(body.reasons)) if body.rating != "none" else []
    return await ctx.db.update(
        message, rating=RATINGS[body.rating], comment=body.comment, reasons=reasons or None
    )


async def export(ctx: Context, conversation: Conversation, format: str) -> Download:
    if format == "md":
        tree = await load_tree(ctx, conversation.id)
        messages = await load_messages(ctx, tree.path(tree.newest))
        content, mime_type = _as_markdown(conversation, messages), "text/markdown; charset=utf-8"
    else:
        messages = await ctx.db.rows(ALL_MESSAGES, conversation_id=conversation.id)
        shown = show_path(tree_of(messages), messages)
        content, mime_type = _as_json(conversation, shown), "application/json"

    async def chunks() -> Any:
        yield content

    return Download(
        chunks=chunks, size=len(content), mime_type=mime_type, filename=f"{conversation.id}.{format}"
    )


def _as_json(conversation: Conversation, messages: list[MessageOut]) -> bytes:
    shown = {"conversation": ConversationOut.of(conversation), "messages": messages}
    return msgspec.json.format(msgspec.json.encode(shown))


def _as_markdown(conversation: Conversation, messages: list[Message]) -> bytes:
    parts = [f"# {conversation.title}"]
    for message in messages:
        parts.append(f"**{message.role}** ({message.created_at})\n\n{message.content}")
        parts += [f"(attached: {attachment.filename})" for attachment in message.attachments or ()]
    return ("\n\n".join(parts) + "\n").encode()
