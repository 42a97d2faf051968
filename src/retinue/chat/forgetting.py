"""The texts of what was deleted in the event log: that there was a message stays, what it said goes."""

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.events import ChatMessage
from retinue.chat.models import Conversation
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import reading
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import Retry, job

_AT_ONCE = 200
_PATIENCE = Retry((0, 5, 60, 600, 3600, 21600))

_events = EventEntry.__table__
# The log is indexed by type and time; what is looked for lies between its first and its last event.
_within = (
    sa.select(_events)
    .where(
        _events.c.type == sa.literal(ChatMessage.__event__.name),
        _events.c.created_at >= sa.bindparam("since", type_=_events.c.created_at.type),
        _events.c.created_at <= sa.bindparam("until", type_=_events.c.created_at.type),
        _events.c.id > sa.bindparam("after", type_=_events.c.id.type),
    )
    .order_by(_events.c.id)
    .limit(_AT_ONCE)
)
_SAID = reading(EventEntry, _within, heavy=True)
_SAID_IN_ONE = reading(
    EventEntry,
    _within.where(_events.c.subject_id == sa.bindparam("conversation_id", type_=_events.c.subject_id.type)),
    heavy=True,
)


class DeletedConversation(msgspec.Struct):
    conversation_id: str
    since: Instant
    until: Instant


def forget_events_later(ctx: Context, conversation: Conversation) -> None:
    """In small steps after this transaction: a long conversation has many events."""
    told = DeletedConversation(conversation.id, conversation.created_at, ctx.now)
    ctx.defer(forget_events, told)


class DeletedAgent(msgspec.Struct):
    agent_id: str
    since: Instant
    until: Instant


def forget_agent_later(ctx: Context, agent: Agent) -> None:
    ctx.defer(forget_agent_events, DeletedAgent(agent.id, agent.created_at, ctx.now))


@job(retry=_PATIENCE, timeout_s=1800, transactional=False)
async def forget_events(ctx: Context, payload: DeletedConversation) -> None:
    given = msgspec.structs.asdict(payload)
    last = ""
    while said := await ctx.db.rows(_SAID_IN_ONE, after=last, **given):
        await _forget(ctx, said)
        last = said[-1].id


@job(retry=_PATIENCE, timeout_s=1800, transactional=False)
async def forget_agent_events(ctx: Context, payload: DeletedAgent) -> None:
    last = ""
    while said := await ctx.db.rows(_SAID, after=last, since=payload.since, until=payload.until):
        await _forget(ctx, [entry for entry in said if entry.data.get("agent_id") == payload.agent_id])
        last = said[-1].id


async def _forget(ctx: Context, said: list[EventEntry]) -> None:
    async with ctx.unit() as unit:
        for entry in said:
            await unit.db.update(entry, data={**entry.data, "content": None})
