from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.embed.models import EmbedKey
from retinue.embed.schemas import EmbedKeyList
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement
from retinue.kit.lists import Listing, Slice

_agents, _keys = Agent.__table__, EmbedKey.__table__
_DELETE_OF_AGENT = Statement(sa.delete(_keys).where(_keys.c.agent_id == sa.bindparam("agent_id")))

_KEYS = Listing(
    EmbedKey,
    searches=("name", "key_prefix"),
    sorts=("created_at", "name", "last_used_at", "request_count"),
    filters=("agent_id", "status"),
)


async def page_of_keys(ctx: Context, query: EmbedKeyList) -> Slice[EmbedKey]:
    return await _KEYS.page(ctx.db, query)


async def names_of_agents(ctx: Context, ids: set[str]) -> dict[str, str]:
    if not ids:
        return {}
    statement: Statement[Any] = Statement(
        sa.select(_agents.c.id, _agents.c.name).where(
            _agents.c.id.in_([sa.literal(id) for id in sorted(ids)])
        )
    )
    return {row[0]: row[1] for row in await ctx.db.rows(statement)}


async def find_keys_of_agent(ctx: Context, agent_id: str) -> list[Referrer]:
    return [Referrer(key.id, key.name) for key in await ctx.db.all(EmbedKey, agent_id=agent_id)]


async def delete_keys_of_agent(ctx: Context, agent_id: str) -> None:
    """Delete the agent's keys before the agent is locked: a turn that ends locks its key first."""
    await ctx.db.execute(_DELETE_OF_AGENT, agent_id=agent_id)
