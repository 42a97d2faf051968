from retinue.chat import conversations, conversations_export, shares, titles
from retinue.chat.errors import AgentArchived, ConversationNotShared, MessageNotFound
from retinue.chat.loaders import ConversationById, OwnConversationById, ReadableById
from retinue.chat.message_list import page_of_messages
from retinue.chat.queries import page_of_conversations
from retinue.chat.schemas import (
    ConversationDetail,
    ConversationExportQuery,
    ConversationList,
    ConversationListed,
    ConversationOut,
    ConversationsExportQuery,
    ConversationUpdate,
    MessageList,
    MessageOut,
)
from retinue.chat.share_schemas import ContinuationStart, ShareChange, ShareOut
from retinue.kit.context import Context
from retinue.kit.http.replies import ByteStream, Download
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/conversations", tag="conversations")


@routes.get("", requires="conversations:read")
async def list_conversations(ctx: Context, query: ConversationList) -> Page[ConversationListed]:
    """List conversations, the one with the newest message first by default.

    Callers with `agents:write` see those of the whole tenant, all others only their own. With
    `shared_with=me` these are the ones that others share with the caller by name. With
    `include=agent_name` each carries the name of its agent.
    """
    return await page_of_conversations(ctx, query)


@routes.get("/export", requires="conversations:read", cost="execute")
async def export_conversations(ctx: Context, query: ConversationsExportQuery) -> ByteStream:
    """Download conversations with their messages as JSON Lines, oldest first; the export is audited.

    It takes the filters of the list. Callers with `agents:write` get those of the whole tenant, all others
    only their own. Each line is an object with `conversation` and `messages`.
    """
    return await conversations_export.export_conversations(ctx, query)


@routes.get("/{conversation_id}", requires="conversations:read")
async def get_conversation(ctx: Context, conversation: ReadableById) -> ConversationDetail:
    """Return the title, state and size of a conversation, without its messages.

    `compaction` tells what is left out of the prompts of a long conversation; its messages stay stored.
    """
    return await conversations.render_conversation(ctx, conversation)


@routes.get("/{conversation_id}/messages", requires="conversations:read", errors=(MessageNotFound,))
async def list_messages(ctx: Context, conversation: ReadableById, query: MessageList) -> Page[MessageOut]:
    """List the messages of a conversation, oldest first.

    Where messages have versions, these are the ones of the branch that ends at `leaf`, or of the newest one.
    Whoever reads a shared conversation sees its messages up to where it is shared, without ratings, tool
    calls and costs.
    """
    return await page_of_messages(ctx, conversation, query)


@routes.patch("/{conversation_id}", requires="conversations:write")
async def rename_conversation(
    ctx: Context, conversation: ConversationById, body: ConversationUpdate
) -> ConversationOut:
    """Change the title of a conversation, put it away or bring it back; the next message does so as well."""
    return ConversationOut.of(await conversations.update(ctx, conversation, body))


@routes.post("/{conversation_id}/title", requires="conversations:write", cost="execute", status=202)
async def make_conversation_title(ctx: Context, conversation: ConversationById) -> ConversationOut:
    """Have the agent's model write a title from the first question and its reply, within the budgets.

    A worker does it; poll the conversation for the result. A conversation that was renamed keeps its title,
    and one whose model cannot answer keeps the beginning of its question.
    """
    return ConversationOut.of(titles.request_title(ctx, conversation))


@routes.post("/{conversation_id}/close", requires="conversations:write")
async def close_conversation(ctx: Context, conversation: ConversationById) -> ConversationOut:
    """Close a conversation and emit `agent.chat.completed`; closing it again changes nothing.

    The next message makes it active again.
    """
    return ConversationOut.of(await conversations.close(ctx, conversation))


@routes.get("/{conversation_id}/share", requires="conversations:read", errors=(ConversationNotShared,))
async def get_share(ctx: Context, conversation: ConversationById) -> ShareOut:
    """Return who else may read the conversation, and up to where."""
    return await shares.render_share(ctx, conversation)


@routes.put("/{conversation_id}/share", requires="conversations:write", errors=(MessageNotFound,))
async def share_conversation(ctx: Context, conversation: OwnConversationById, body: ShareChange) -> ShareOut:
    """Let people, or everyone in the organization who has its id, read the conversation up to a message.

    Only its owner can. It replaces whom the conversation was shared with before, and ends with the
    conversation or while the account of its owner is not active. Nobody but the owner can write in it.
    """
    return await shares.share_conversation(ctx, conversation, body)


@routes.delete("/{conversation_id}/share", requires="conversations:write", status=204)
async def end_share(ctx: Context, conversation: ConversationById) -> None:
    """Let nobody else read the conversation any more; does nothing if it is not shared."""
    await shares.end_share(ctx, conversation)


@routes.post(
    "/{conversation_id}/continue",
    requires="agents:chat",
    status=201,
    errors=(MessageNotFound, AgentArchived),
)
async def continue_conversation(
    ctx: Context, conversation: ReadableById, body: ContinuationStart
) -> ConversationOut:
    """Copy what the caller may read of a conversation into a new one of their own, to go on there.

    The copy has the texts, files and cited sources, and nothing of tools and costs.
    """
    return ConversationOut.of(await shares.continue_conversation(ctx, conversation, body.until_message_id))


@routes.delete("/{conversation_id}", requires="conversations:write", status=204)
async def delete_conversation(ctx: Context, conversation: ConversationById) -> None:
    """Delete the conversation and its messages, and remove their texts from the chat log and the event log.

    Log entries without texts remain. Approvals that its replies wait for are cancelled.
    """
    await conversations.delete(ctx, conversation)


@routes.get("/{conversation_id}/export", requires="conversations:read")
async def export_conversation(
    ctx: Context, conversation: ConversationById, query: ConversationExportQuery
) -> Download:
    """Download the whole conversation as a file."""
    return await conversations.export(ctx, conversation, query.format)
