"""The messages of a conversation as readers see them: the path of one branch, with the versions beside it."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from retinue.chat.errors import MessageNotFound
from retinue.chat.message_tree import MessageNode, MessageTree, MessageVersions, load_messages, load_tree
from retinue.chat.models import Message
from retinue.chat.queries import MESSAGES
from retinue.chat.schemas import MessageList, MessageOut
from retinue.chat.share_models import ConversationShare
from retinue.chat.shares import ReadableConversation, without_inner_details
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.lists import Page, Slice

_messages = Message.__table__
_ID_AT = Statement(
    sa.select(_messages.c.id).where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position == sa.bindparam("position"),
    )
)


async def page_of_messages(
    ctx: Context, readable: ReadableConversation, query: MessageList
) -> Page[MessageOut]:
    """Return one page of the path that ends at `leaf`, or at the newest message; of a share, its own path."""
    conversation = readable.conversation
    if readable.share is not None:
        return await _page_of_share(ctx, readable.share, query)
    if query.leaf is None and not conversation.is_branched:
        page = await MESSAGES.page(ctx.db, query, conversation_id=conversation.id)
        shown = iter(await _show_row(ctx, page.items))
        return page.to_page(lambda _: next(shown))
    tree = await load_tree(ctx, conversation.id)
    nodes = Slice.of_all(list(_find_path(tree, query.leaf)), query)
    shown = iter(show_path(tree, await load_messages(ctx, nodes.items)))
    return nodes.to_page(lambda _: next(shown))


async def _page_of_share(ctx: Context, share: ConversationShare, query: MessageList) -> Page[MessageOut]:
    """Return one page of what others may read: no other versions, no ratings, no inner details."""
    tree = await load_tree(ctx, share.conversation_id)
    path = tree.path(share.until_position)
    if query.leaf is not None:
        ends = [number for number, node in enumerate(path, 1) if node.id == query.leaf]
        if not ends:
            raise MessageNotFound
        path = path[: ends[0]]
    nodes = Slice.of_all(list(path), query)
    shown = iter([_show_shared(tree, message) for message in await load_messages(ctx, nodes.items)])
    return nodes.to_page(lambda _: next(shown))


def _show_shared(tree: MessageTree, message: Message) -> MessageOut:
    shown = _show(tree, message)
    return msgspec.structs.replace(
        shown, details=without_inner_details(message), feedback=None, versions=MessageVersions()
    )


def _find_path(tree: MessageTree, leaf_id: str | None) -> tuple[MessageNode, ...]:
    if leaf_id is None:
        return tree.path(tree.newest)
    leaf = tree.find(leaf_id)
    if leaf is None:
        raise MessageNotFound
    return tree.path(leaf.position)


def show_path(tree: MessageTree, messages: Sequence[Message]) -> list[MessageOut]:
    """Return messages of a conversation, each with its parent and its versions."""
    return [_show(tree, message) for message in messages]


def _show(tree: MessageTree, message: Message) -> MessageOut:
    node = tree.at(message.position)
    assert node is not None
    parent = tree.at(node.parent)
    return MessageOut.from_record(message, parent.id if parent is not None else None, tree.place(node))


async def _show_row(ctx: Context, messages: list[Message]) -> list[MessageOut]:
    """Return messages of a conversation in which each follows the one before it."""
    if not messages:
        return []
    first = messages[0]
    parent_id = None
    if first.position > 1:
        parent_id = await ctx.db.scalar(
            _ID_AT, conversation_id=first.conversation_id, position=first.position - 1
        )
    parent_ids = [parent_id, *(message.id for message in messages)]
    return [
        MessageOut.from_record(message, parent, MessageVersions())
        for message, parent in zip(messages, parent_ids, strict=False)
    ]
