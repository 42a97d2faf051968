"""Conversations that their owner lets others of the organization read, and copies that readers go on with.

A share counts as long as the conversation is there and the account of its owner is active.
"""

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.attachment_models import (
    ConversationFile,
)
from retinue.chat.engine.parts import ReplyDetails, TokenUsage
from retinue.chat.engine.sources import cited_sources
from retinue.chat.errors import AgentArchived, ConversationNotShared, MessageNotFound
from retinue.chat.events import ChatShared, ChatStarted, ChatUnshared
from retinue.chat.message_tree import MessageNode, load_messages, load_tree
from retinue.chat.models import (
    ChatChannel,
    Conversation,
    Message,
)
from retinue.chat.queries import find_visible_conversation
from retinue.chat.share_models import ConversationReader, ConversationShare, ShareAudience
from retinue.chat.share_schemas import ShareChange, ShareOut
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.users.models import User, UserStatus

_MAX_COPIED_MESSAGES = 1_000
_users, _readers = User.__table__, ConversationReader.__table__
_ACTIVE_USERS = Statement(
    sa.select(_users.c.id).where(in_list(_users.c.id, "ids"), _users.c.status == UserStatus.active.value)
)
_REMOVE_READERS = Statement(
    sa.delete(_readers).where(_readers.c.conversation_id == sa.bindparam("conversation_id"))
)


class ReadableConversation(msgspec.Struct, frozen=True):
    """A conversation, with the share by which the caller reads it if it is not theirs to see."""

    conversation: Conversation
    share: ConversationShare | None = None


async def find_readable_conversation(ctx: Context, conversation_id: str) -> ReadableConversation | None:
    visible = await find_visible_conversation(ctx, conversation_id)
    if visible is not None:
        return ReadableConversation(visible)
    conversation = await ctx.db.get(Conversation, conversation_id)
    if conversation is None or not conversation.is_shared or ctx.principal.kind != "user":
        return None
    share = await ctx.db.find(ConversationShare, conversation_id=conversation.id)
    owner = await ctx.db.get(User, conversation.user_id or "")
    if share is None or owner is None or owner.status is not UserStatus.active:
        return None
    if share.audience is ShareAudience.people:
        named = await ctx.db.find(
            ConversationReader, conversation_id=conversation.id, user_id=ctx.principal.id
        )
        return None if named is None else ReadableConversation(conversation, share)
    return ReadableConversation(conversation, share)


async def find_own_conversation(ctx: Context, conversation_id: str) -> Conversation | None:
    """Return the conversation if the caller is its owner: nobody else may show it to others."""
    conversation = await ctx.db.get(Conversation, conversation_id)
    is_own = conversation is not None and conversation.user_id == ctx.principal.id
    return conversation if is_own else None


async def render_share(ctx: Context, conversation: Conversation) -> ShareOut:
    share = await ctx.db.find(ConversationShare, conversation_id=conversation.id)
    if share is None:
        raise ConversationNotShared
    readers = await ctx.db.all(ConversationReader, conversation_id=conversation.id)
    return ShareOut.of(share, user_ids=sorted(reader.user_id for reader in readers))


async def share_conversation(ctx: Context, conversation: Conversation, body: ShareChange) -> ShareOut:
    """Let others read the conversation up to a message, in place of whom it was shared with before."""
    user_ids = await _require_readers(ctx, body)
    until = await _find_end(ctx, conversation, body.until_message_id)
    await ctx.db.lock(Conversation, conversation.id)
    fields: JsonObject = {
        "audience": body.audience,
        "until_message_id": until.id,
        "until_position": until.position,
    }
    share = await ctx.db.find(ConversationShare, conversation_id=conversation.id)
    if share is None:
        await ctx.db.insert(ConversationShare(conversation_id=conversation.id, **fields))
    else:
        await ctx.db.update(share, **fields)
    await ctx.db.execute(_REMOVE_READERS, conversation_id=conversation.id)
    for user_id in user_ids:
        await ctx.db.insert(ConversationReader(conversation_id=conversation.id, user_id=user_id))
    await ctx.db.update(conversation, is_shared=True)
    ctx.emit(
        ChatShared(
            conversation_id=conversation.id,
            agent_id=conversation.agent_id,
            audience=body.audience,
            user_ids=user_ids,
            until_message_id=until.id,
        )
    )
    return await render_share(ctx, conversation)


async def _require_readers(ctx: Context, body: ShareChange) -> list[str]:
    if body.audience is ShareAudience.organization:
        return []
    if not body.user_ids:
        raise Invalid({"user_ids": "must name somebody"})
    wanted = sorted(set(body.user_ids))
    known = {row[0] for row in await ctx.db.rows(_ACTIVE_USERS, ids=list_parameter(wanted))}
    for number, user_id in enumerate(body.user_ids):
        if user_id not in known:
            raise Invalid({f"user_ids.{number}": "must be an active user of the organization"})
    return wanted


async def _find_end(ctx: Context, conversation: Conversation, message_id: str | None) -> MessageNode:
    tree = await load_tree(ctx, conversation.id)
    end = tree.at(tree.newest) if message_id is None else tree.find(message_id)
    if end is None:
        raise MessageNotFound
    return end


async def end_share(ctx: Context, conversation: Conversation) -> None:
    """Let nobody else read the conversation any more; does nothing if nobody does."""
    await ctx.db.lock(Conversation, conversation.id)
    share = await ctx.db.find(ConversationShare, conversation_id=conversation.id)
    if share is None:
        return
    await ctx.db.execute(_REMOVE_READERS, conversation_id=conversation.id)
    await ctx.db.delete(share)
    await ctx.db.update(conversation, is_shared=False)
    ctx.emit(ChatUnshared(conversation_id=conversation.id, agent_id=conversation.agent_id))


def without_inner_details(message: Message) -> ReplyDetails | None:
    """Return what a reader is shown of a reply: nothing of tools, models and costs; only cited sources."""
    details = message.details
    if details is None:
        return None
    return ReplyDetails(
        model="",
        finish_reason=details.finish_reason,
        usage=TokenUsage(),
        sources=tuple(source.plain() for source in cited_sources(message.content, details.sources)),
        warnings=details.plain_warnings(),
        output=details.output,
    )


async def continue_conversation(
    ctx: Context, readable: ReadableConversation, message_id: str | None
) -> Conversation:
    """Return a copy that belongs to the caller, up to a message that the caller may read."""
    source = readable.conversation
    agent = await ctx.db.get(Agent, source.agent_id)
    if agent is None or agent.status is AgentStatus.archived:
        raise AgentArchived
    tree = await load_tree(ctx, source.id)
    path = tree.path(tree.newest if readable.share is None else readable.share.until_position)
    if message_id is not None:
        end = tree.find(message_id)
        if end is None or (readable.share is not None and end not in path):
            raise MessageNotFound
        path = tree.path(end.position)
    messages = await load_messages(ctx, path[-_MAX_COPIED_MESSAGES:])
    copied = await ctx.db.insert(
        Conversation(
            agent_id=source.agent_id,
            title=source.title,
            channel=ChatChannel.console,
            user_id=ctx.principal.id,
            message_count=len(messages),
            last_message_at=ctx.now,
        )
    )
    for position, message in enumerate(messages, 1):
        await _copy_message(ctx, copied, message, position)
    ctx.emit(
        ChatStarted(
            conversation_id=copied.id,
            agent_id=copied.agent_id,
            channel=copied.channel,
            user_id=copied.user_id,
            session_id=None,
        )
    )
    return copied


async def _copy_message(ctx: Context, copied: Conversation, message: Message, position: int) -> None:
    stored = await ctx.db.insert(
        Message(
            conversation_id=copied.id,
            role=message.role,
            content=message.content,
            position=position,
            status=message.status,
            details=without_inner_details(message),
            attachments=message.attachments,
        )
    )
    for attachment in message.attachments or ():
        await ctx.db.insert(
            ConversationFile(conversation_id=copied.id, message_id=stored.id, file_id=attachment.file_id)
        )
