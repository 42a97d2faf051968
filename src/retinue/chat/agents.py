"""What an agent that is deleted leaves behind here."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat import pausing
from retinue.chat.forgetting import forget_agent_later
from retinue.chat.models import ChatJob, Conversation, PausedTurn
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.references import Referrer

# In the order in which a turn holds them: the agent itself comes last, as it does for the turn.
_DELETE: tuple[Statement[Any], ...] = tuple(
    Statement(sa.delete(record.__table__).where(record.__table__.c.agent_id == sa.bindparam("agent_id")))
    for record in (ChatJob, Conversation)
)


async def find_conversations(ctx: Context, agent_id: str) -> list[Referrer]:
    found = await ctx.db.all(Conversation, agent_id=agent_id)
    return [Referrer(one.id, one.title) for one in found]


async def delete_conversations(ctx: Context, agent_id: str) -> None:
    """Before anyone holds the agent: a turn that is ending holds its conversation, and then the agent."""
    for paused in await ctx.db.all(PausedTurn, agent_id=agent_id):
        await pausing.withdraw(ctx, paused)
    for statement in _DELETE:
        await ctx.db.execute(statement, agent_id=agent_id)
    agent = await ctx.db.get(Agent, agent_id)
    if agent is not None:
        forget_agent_later(ctx, agent)
