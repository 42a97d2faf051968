"""Deletion of an agent's conversations and jobs, together with the agent."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.attachments.lifetimes import expire_files_of_agent
from retinue.chat.event_erasure import enqueue_agent_event_erasure
from retinue.chat.models import ChatJob, Conversation, PausedTurn
from retinue.chat.traced_turns import keep_traces
from retinue.chat.turn import suspension
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement

# Turns lock in this order, with the agent last; the same order here avoids deadlocks.
_DELETE: tuple[Statement[Any], ...] = tuple(
    Statement(sa.delete(record.__table__).where(record.__table__.c.agent_id == sa.bindparam("agent_id")))
    for record in (ChatJob, Conversation)
)


async def find_conversations(ctx: Context, agent_id: str) -> list[Referrer]:
    conversations = await ctx.db.all(Conversation, agent_id=agent_id)
    return [Referrer(conversation.id, conversation.title) for conversation in conversations]


async def delete_conversations(ctx: Context, agent_id: str) -> None:
    """Delete the agent's conversations and jobs before the agent is locked.

    A turn that is ending locks its conversation first and then the agent.
    """
    for paused in await ctx.db.all(PausedTurn, agent_id=agent_id):
        await suspension.cancel_approvals(ctx, paused)
    await expire_files_of_agent(ctx, agent_id)
    for statement in _DELETE:
        await ctx.db.execute(statement, agent_id=agent_id)
    await keep_traces(ctx, agent_id)
    agent = await ctx.db.get(Agent, agent_id)
    if agent is not None:
        enqueue_agent_event_erasure(ctx, agent)
