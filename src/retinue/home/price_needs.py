"""Models whose agents a budget keeps silent, because nobody has set their price."""

import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.turn.billing import find_priced_models
from retinue.home.needs import MAX_NEEDS_PER_KIND
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement
from retinue.usage import unpriced
from retinue.usage.enforcement import BudgetCache, Spender

_MAX_AGENTS = 200

_agents = Agent.__table__
_PUBLISHED = record_statement(
    Agent,
    sa.select(_agents)
    .where(_agents.c.status == sa.literal(AgentStatus.published.value))
    .order_by(_agents.c.created_at)
    .limit(_MAX_AGENTS),
)


async def find_unpriced_models(ctx: Context) -> list[Need]:
    """Return the models without a price whose published agents a budget refuses, before anybody asks them."""
    if not any(unpriced.refuses_unpriced(budget) for budget in await ctx.state(BudgetCache).of(ctx)):
        return []
    found: dict[str, Need] = {}
    for agent in await ctx.db.rows(_PUBLISHED):
        rule = await unpriced.find_rule(ctx, Spender(agent_id=agent.id))
        model = (await find_priced_models(ctx, agent, rule))[1] if rule is not None else None
        if rule is None or model is None:
            continue
        need = found.setdefault(model, _need(model, rule.budget_id, agent))
        need.params["agent_count"] += 1
    return list(found.values())[:MAX_NEEDS_PER_KIND]


def _need(model: str, budget_id: str, agent: Agent) -> Need:
    return Need(
        kind=NeedKind.model,
        severity=NeedSeverity.bad,
        title_code="model_unpriced",
        params={"budget_id": budget_id, "agent_id": agent.id, "agent_name": agent.name, "agent_count": 0},
        object=NeedObject(type="model", id=model, name=model),
        since=agent.updated_at,
        action=NeedAction.set_price,
    )
