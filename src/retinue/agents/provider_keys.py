"""Which published agents would be without their model when a provider key goes."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.references import Referrer
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.models import ProviderKey
from retinue.providers.resolving import candidates

_agents = Agent.__table__
_PUBLISHED: Statement[Any] = Statement(
    sa.select(_agents.c.id, _agents.c.name, _agents.c.primary_model)
    .where(_agents.c.status == sa.literal(AgentStatus.published.value))
    .order_by(_agents.c.created_at, _agents.c.id)
)


async def find_agents_on_last_key(ctx: Context, key_id: str) -> list[Referrer]:
    """Published agents whose model this key serves and no other does."""
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
        return bool(candidates(keys, model))
    except ModelNotConfigured:
        return False


async def keep_model(ctx: Context, key_id: str) -> None:
    """An agent keeps the name of its model; what answers for it is decided when it is asked."""
