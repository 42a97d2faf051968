"""The end of the conversation in which an approval was requested, for those who may read it."""

from msgspec import UNSET, UnsetType

from retinue.approvals.models import Approval
from retinue.approvals.schemas import ContextMessage
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import ConversationAccess, load_content_reader

MESSAGE_COUNT = 3
_MAX_CONTENT_LENGTH = 4_000


async def load_context(ctx: Context, approval: Approval) -> list[ContextMessage] | UnsetType:
    """Return the last messages before the request, oldest first; UNSET without access to them."""
    conversation_id = approval.source.conversation_id
    if not conversation_id:
        return UNSET
    reader = await load_content_reader(ctx, [[conversation_id]])
    if not reader.may_read([conversation_id]):
        return UNSET
    return [
        ContextMessage(
            role=message.role,
            content=message.content[:_MAX_CONTENT_LENGTH],
            created_at=message.created_at,
        )
        for access in ctx.instance.registry.all(ConversationAccess)
        for message in await access.load_last_messages(
            ctx, conversation_id, approval.created_at, MESSAGE_COUNT
        )
    ]
