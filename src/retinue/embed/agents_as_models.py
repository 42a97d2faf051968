"""Agents as models of OpenAI's API: lookup by model name, and the list of models."""

import sqlalchemy as sa

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent, AgentStatus
from retinue.embed.loaders import require_key_of_agent
from retinue.embed.openai_schemas import Model, Models
from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid

_MAX_LISTED_AGENTS = 1_000

_agents = Agent.__table__
_IS_LISTED = sa.and_(_agents.c.parent_id.is_(None), _agents.c.status != AgentStatus.archived.value)
_NAMED = record_statement(
    Agent,
    sa.select(_agents)
    .where(_IS_LISTED, _agents.c.name == sa.bindparam("called"))
    .order_by(_agents.c.id)
    .limit(2),
)
_LISTED = Statement(
    sa.select(_agents.c.id, _agents.c.name, _agents.c.created_at)
    .where(_IS_LISTED)
    .order_by(_agents.c.created_at.desc(), _agents.c.id)
    .limit(_MAX_LISTED_AGENTS)
)


async def require_agent(ctx: Context, model: str) -> Agent:
    """Return the agent with this id, or the only one with this name; an embed key reaches only its own."""
    is_key = ctx.principal.kind == "embed_key"
    agent = await ctx.db.get(Agent, model)
    if agent is None:
        agent = await _require_own_agent(ctx, model) if is_key else await _require_agent_named(ctx, model)
    require_key_of_agent(ctx, agent)
    return agent


async def _require_own_agent(ctx: Context, name: str) -> Agent:
    """Return the agent of the embed key if it has this name, even if other agents share the name."""
    key_agent = await ctx.db.get(Agent, ctx.principal.agent_id)
    if key_agent is None or key_agent.name != name:
        raise AgentNotFound
    return key_agent


async def _require_agent_named(ctx: Context, name: str) -> Agent:
    agents = await ctx.db.rows(_NAMED, called=name)
    if not agents:
        raise AgentNotFound
    if len(agents) > 1:
        raise Invalid({"model": "must be an id, because several agents have this name"})
    return agents[0]


async def list_models(ctx: Context) -> Models:
    """Return every agent that can answer; for an embed key only its own."""
    if ctx.principal.kind == "embed_key":
        key_agent = await ctx.db.get(Agent, ctx.principal.agent_id)
        return Models(
            data=[_render_model(key_agent.id, key_agent.name, key_agent.created_at)]
            if key_agent is not None
            else []
        )
    return Models(data=[_render_model(*row) for row in await ctx.db.rows(_LISTED)])


def _render_model(id: str, name: str, created_at: Instant) -> Model:
    return Model(id=id, created=int(parse_instant(created_at).timestamp()), name=name)
