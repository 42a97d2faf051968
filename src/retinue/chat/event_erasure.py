"""Erasure of deleted texts from the event log; the events remain without their content."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.events import ChatMessage
from retinue.chat.job_kinds import (
    ERASE_AGENT_EVENTS,
    ERASE_CONVERSATION_EVENTS,
    DeletedAgent,
    DeletedConversation,
)
from retinue.chat.models import Conversation
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement
from retinue.kit.events.models import EventEntry

_BATCH_SIZE = 200

_events = EventEntry.__table__
_since: Any = sa.bindparam("since", type_=_events.c.created_at.type)
# In the order of the log's index, in which the types stand beside the times.
_within = (
    sa.select(_events)
    .where(
        _events.c.type == sa.literal(ChatMessage.__event__.name),
        _events.c.created_at >= _since,
        _events.c.created_at <= sa.bindparam("until", type_=_events.c.created_at.type),
        sa.not_(
            sa.and_(
                _events.c.created_at == _since,
                _events.c.id <= sa.bindparam("after", type_=_events.c.id.type),
            )
        ),
    )
    .order_by(_events.c.created_at, _events.c.id)
    .limit(_BATCH_SIZE)
)
_CHAT_MESSAGES = record_statement(EventEntry, _within, heavy=True)
_MESSAGES_OF_CONVERSATION = record_statement(
    EventEntry,
    _within.where(_events.c.subject_id == sa.bindparam("conversation_id", type_=_events.c.subject_id.type)),
    heavy=True,
)


def enqueue_event_erasure(ctx: Context, conversation: Conversation) -> None:
    """Erase the texts in a job after this transaction: a long conversation has many events."""
    job_payload = DeletedConversation(conversation.id, conversation.created_at, ctx.now)
    ctx.defer(ERASE_CONVERSATION_EVENTS, job_payload)


def enqueue_agent_event_erasure(ctx: Context, agent: Agent) -> None:
    ctx.defer(ERASE_AGENT_EVENTS, DeletedAgent(agent.id, agent.created_at, ctx.now))


async def erase_conversation_events(ctx: Context, payload: DeletedConversation) -> None:
    after, given = "", msgspec.structs.asdict(payload)
    while entries := await ctx.db.rows(_MESSAGES_OF_CONVERSATION, after=after, **given):
        await _erase_content(ctx, entries)
        after, given["since"] = entries[-1].id, entries[-1].created_at


async def erase_agent_events(ctx: Context, payload: DeletedAgent) -> None:
    after, since = "", payload.since
    while entries := await ctx.db.rows(_CHAT_MESSAGES, after=after, since=since, until=payload.until):
        await _erase_content(
            ctx, [entry for entry in entries if entry.data.get("agent_id") == payload.agent_id]
        )
        after, since = entries[-1].id, entries[-1].created_at


async def _erase_content(ctx: Context, entries: list[EventEntry]) -> None:
    async with ctx.unit() as unit:
        for entry in entries:
            await unit.db.update(entry, data={**entry.data, "content": None})
