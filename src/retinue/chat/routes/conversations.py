from retinue.chat import conversations
from retinue.chat.loaders import ConversationById
from retinue.chat.queries import CONVERSATIONS, MESSAGES, own_only
from retinue.chat.schemas import (
    ConversationList,
    ConversationOut,
    ConversationUpdate,
    ExportQuery,
    MessageOut,
)
from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery

routes = Routes("/api/v1/conversations", tag="conversations")


@routes.get("", requires="conversations:read")
async def list_conversations(ctx: Context, query: ConversationList) -> Page[ConversationOut]:
    """Everyone's for those who may change agents, else one's own."""
    return (await CONVERSATIONS.page(ctx.db, query, **own_only(ctx))).shown(ConversationOut.of)


@routes.get("/{conversation_id}", requires="conversations:read")
async def get_conversation(ctx: Context, conversation: ConversationById) -> ConversationOut:  # noqa: ARG001  every handler takes it
    return ConversationOut.of(conversation)


@routes.get("/{conversation_id}/messages", requires="conversations:read")
async def list_messages(ctx: Context, conversation: ConversationById, query: PageQuery) -> Page[MessageOut]:
    """In the order they were said."""
    return (await MESSAGES.page(ctx.db, query, conversation_id=conversation.id)).shown(MessageOut.shown)


@routes.patch("/{conversation_id}", requires="conversations:write")
async def rename_conversation(
    ctx: Context, conversation: ConversationById, body: ConversationUpdate
) -> ConversationOut:
    return ConversationOut.of(await conversations.rename(ctx, conversation, body.title))


@routes.post("/{conversation_id}/close", requires="conversations:write")
async def close_conversation(ctx: Context, conversation: ConversationById) -> ConversationOut:
    return ConversationOut.of(await conversations.close(ctx, conversation))


@routes.delete("/{conversation_id}", requires="conversations:write", status=204)
async def delete_conversation(ctx: Context, conversation: ConversationById) -> None:
    """Also removes its texts from the log."""
    await conversations.delete(ctx, conversation)


@routes.get("/{conversation_id}/export", requires="conversations:read")
async def export_conversation(ctx: Context, conversation: ConversationById, query: ExportQuery) -> Download:
    return await conversations.export(ctx, conversation, query.format)
