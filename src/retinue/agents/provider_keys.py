"""Published agents that lose their model when a provider key is deleted."""

from collections.abc import Iterable

import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.model_resolution import candidates_for
from retinue.providers.models import ProviderKey

_agents = Agent.__table__
_PUBLISHED = Statement(
    sa.select(_agents.c.id, _agents.c.name, _agents.c.primary_model)
    .where(_agents.c.status == sa.literal(AgentStatus.published.value))
    .order_by(_agents.c.created_at, _agents.c.id)
)


async def find_agents_on_last_key(ctx: Context, key_id: str) -> list[Referrer]:
    """Return the published agents whose model only this key serves."""
    keys = await ctx.db.all(ProviderKey, is_active=True)
    others = [key for key in keys if key.id != key_id]
    rows = await ctx.db.rows(_PUBLISHED)
    lost = {
        model
        for model in {row[2] for row in rows}
        if _is_served(keys, model) and not _is_served(others, model)
    }
    return [Referrer(row[0], row[1]) for row in rows if row[2] in lost]


def _is_served(keys: Iterable[ProviderKey], model: str) -> bool:
    try:
        return bool(candidates_for(keys, model))
    except ModelNotConfigured:
        return False


async def keep_model(ctx: Context, key_id: str) -> None:
    """Do nothing: an agent keeps its model's name, and a provider is chosen when it is called."""
