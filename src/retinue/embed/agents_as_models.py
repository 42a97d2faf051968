"""Which agent is meant by the name of a model, and which agents there are to name."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent, AgentStatus
from retinue.embed.loaders import require_own
from retinue.embed.openai_schemas import Model, Models
from retinue.kit.clock import Instant, moment
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import Invalid

_MOST = 1_000

_agents = Agent.__table__
_OPEN = sa.and_(_agents.c.parent_id.is_(None), _agents.c.status != AgentStatus.archived.value)
_NAMED = reading(
    Agent,
    sa.select(_agents).where(_OPEN, _agents.c.name == sa.bindparam("called")).order_by(_agents.c.id).limit(2),
)
_LISTED: Statement[Any] = Statement(
    sa.select(_agents.c.id, _agents.c.name, _agents.c.created_at)
    .where(_OPEN)
    .order_by(_agents.c.created_at.desc(), _agents.c.id)
    .limit(_MOST)
)


async def fetch(ctx: Context, model: str) -> Agent:
    """The agent with this id, else the one agent of this name; for an embed key its own agent or none."""
    is_key = ctx.principal.kind == "embed_key"
    agent = await ctx.db.get(Agent, model)
    if agent is None:
        agent = await _fetch_own(ctx, model) if is_key else await _fetch_named(ctx, model)
    require_own(ctx, agent)
    return agent


async def _fetch_own(ctx: Context, name: str) -> Agent:
    """A key opens one agent: its name is enough, however many others have the same."""
    own = await ctx.db.get(Agent, ctx.principal.agent_id)
    if own is None or own.name != name:
        raise AgentNotFound
    return own


async def _fetch_named(ctx: Context, name: str) -> Agent:
    found = await ctx.db.rows(_NAMED, called=name)
    if not found:
        raise AgentNotFound
    if len(found) > 1:
        raise Invalid({"model": "must be an id: more than one agent has this name"})
    return found[0]


async def models(ctx: Context) -> Models:
    """Every agent that answers; for an embed key its own."""
    if ctx.principal.kind == "embed_key":
        own = await ctx.db.get(Agent, ctx.principal.agent_id)
        return Models(data=[_shown(own.id, own.name, own.created_at)] if own is not None else [])
    return Models(data=[_shown(*row) for row in await ctx.db.rows(_LISTED)])


def _shown(id: str, name: str, created_at: Instant) -> Model:
    return Model(id=id, created=int(moment(created_at).timestamp()), name=name)
