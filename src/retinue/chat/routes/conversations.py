from retinue.chat import conversations
from retinue.chat.loaders import ConversationById
from retinue.chat.queries import MESSAGES, page_of_conversations
from retinue.chat.schemas import (
    ConversationDetail,
    ConversationExportQuery,
    ConversationList,
    ConversationListed,
    ConversationOut,
    ConversationUpdate,
    MessageOut,
)
from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery

routes = Routes("/api/v1/conversations", tag="conversations")


@routes.get("", requires="conversations:read")
async def list_conversations(ctx: Context, query: ConversationList) -> Page[ConversationListed]:
    """List conversations, the one with the newest message first by default.

    Callers with `agents:write` see those of the whole tenant, all others only their own. With
    `include=agent_name` each carries the name of its agent.
    """
    return await page_of_conversations(ctx, query)


@routes.get("/{conversation_id}", requires="conversations:read")
async def get_conversation(ctx: Context, conversation: ConversationById) -> ConversationDetail:
    """Return the title, state and size of a conversation, without its messages.

    `compaction` tells what is left out of the prompts of a long conversation; its messages stay stored.
    """
    return await conversations.render_conversation(ctx, conversation)


@routes.get("/{conversation_id}/messages", requires="conversations:read")
async def list_messages(ctx: Context, conversation: ConversationById, query: PageQuery) -> Page[MessageOut]:
    """List the messages of a conversation, oldest first."""
    return (await MESSAGES.page(ctx.db, query, conversation_id=conversation.id)).to_page(
        MessageOut.from_record
    )


@routes.patch("/{conversation_id}", requires="conversations:write")
async def rename_conversation(
    ctx: Context, conversation: ConversationById, body: ConversationUpdate
) -> ConversationOut:
    """Change the title of a conversation."""
    return ConversationOut.of(await conversations.rename(ctx, conversation, body.title))


@routes.post("/{conversation_id}/close", requires="conversations:write")
async def close_conversation(ctx: Context, conversation: ConversationById) -> ConversationOut:
    """Close a conversation and emit `agent.chat.completed`; closing it again changes nothing.

    The next message makes it active again.
    """
    return ConversationOut.of(await conversations.close(ctx, conversation))


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
