from typing import Any

import sqlalchemy as sa

from retinue.chat.models import ChatJob, ChatLog, Conversation, Message
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.lists import Listing

CONVERSATIONS = Listing(
    Conversation,
    searches=("title",),
    sorts=("created_at", "last_message_at", "title", "message_count"),
    filters=("agent_id", "user_id", "channel", "status"),
    default_sort="-last_message_at",
)
MESSAGES = Listing(Message, sorts=("position",), default_sort="position")
LOGS = Listing(
    ChatLog,
    searches=("user_message", "assistant_message"),
    sorts=("created_at", "response_time_ms"),
    filters=("conversation_id", "channel", "status"),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
    heavy=True,
)
JOBS = Listing(ChatJob, filters=("status",))

_conversations, _messages = Conversation.__table__, Message.__table__
ALL_MESSAGES = reading(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id"))
    .order_by(_messages.c.position),
    heavy=True,
)
_ACTIVE: Statement[Any] = Statement(
    sa.select(sa.func.count())
    .select_from(_conversations)
    .where(
        _conversations.c.agent_id == sa.bindparam("agent_id"),
        _conversations.c.last_message_at > sa.bindparam("since"),
    )
)


def sees_all(ctx: Context) -> bool:
    """Whether the caller reads everyone's conversations; others read their own."""
    return ctx.principal.may("agents:write")


def own_only(ctx: Context) -> dict[str, Any]:
    """What narrows a list to what the caller may see."""
    return {} if sees_all(ctx) else {"user_id": ctx.principal.id}


async def find_visible(ctx: Context, conversation_id: str) -> Conversation | None:
    found = await ctx.db.get(Conversation, conversation_id)
    return found if found is not None and (sees_all(ctx) or found.user_id == ctx.principal.id) else None


async def find_visible_job(ctx: Context, job_id: str) -> ChatJob | None:
    found = await ctx.db.get(ChatJob, job_id)
    return found if found is not None and (sees_all(ctx) or found.user_id == ctx.principal.id) else None


async def count_active(ctx: Context, agent_id: str, since: str) -> int:
    return int(await ctx.db.scalar(_ACTIVE, agent_id=agent_id, since=since))
