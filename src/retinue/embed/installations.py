"""Origins whose pages have loaded the widget, so that an owner sees whether it is installed."""

from contextlib import suppress
from urllib.parse import urlsplit

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.embed.models import EmbedKey, WidgetInstallation
from retinue.embed.origins import is_origin
from retinue.embed.schemas import WidgetInstallationOut
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.ids import new_id
from retinue.kit.principal import SYSTEM

# An origin is noted every 10 minutes at most, so that visits cost no writes.
_NOTED_FOR_SECONDS = 600
# A caller can invent origins; a key with more of them than this forgets the oldest.
MAX_ORIGINS_PER_KEY = 50
# Refused origins are counted apart, so that they never push out those that have the widget.
MAX_REFUSED_ORIGINS_PER_KEY = 20

_seen, _keys = WidgetInstallation.__table__, EmbedKey.__table__
_OF_AGENT = Statement(
    sa.select(
        _seen.c.origin, _seen.c.key_id, _keys.c.name, _seen.c.created_at, _seen.c.seen_at, _seen.c.is_refused
    )
    .select_from(
        _seen.join(_keys, sa.and_(_keys.c.tenant_id == _seen.c.tenant_id, _keys.c.id == _seen.c.key_id))
    )
    .where(_seen.c.agent_id == sa.bindparam("agent_id"))
    .order_by(_seen.c.seen_at.desc(), _seen.c.origin)
    .limit(200)
)


def origin_of_address(address: str) -> str | None:
    """Return the origin of a page's address, such as a Referer; None if it has none."""
    try:
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return None
    return origin if is_origin(origin) else None


async def note(ctx: Context, key_id: str, agent_id: str, origin: str | None) -> None:
    """Note that a page of this origin loads the widget; nothing is written if it was noted recently."""
    if origin is None or not is_origin(origin):
        return
    await _store(ctx, WidgetInstallation(agent_id=agent_id, key_id=key_id, origin=origin, seen_at=ctx.now))


async def note_refusal(instance: Instance, tenant_id: str, key_id: str, agent_id: str, origin: str) -> None:
    """Note that a page of this origin wanted to load the widget, which its key does not allow.

    The request is refused in any case, so a database that cannot store the note changes nothing.
    """
    if not is_origin(origin):
        return
    with suppress(RetinueError):
        async with Context(instance, SYSTEM, Caller(correlation_id=new_id("cor"))) as ctx:
            ctx.bind_tenant(tenant_id)
            await _store(
                ctx,
                WidgetInstallation(
                    agent_id=agent_id, key_id=key_id, origin=origin, seen_at=ctx.now, is_refused=True
                ),
            )


async def _store(ctx: Context, seen: WidgetInstallation) -> None:
    known = await ctx.db.find(WidgetInstallation, key_id=seen.key_id, origin=seen.origin)
    if known is None:
        await _make_room(ctx, seen)
        await ctx.db.insert_missing(seen)
        return
    is_recent = known.seen_at > ctx.clock.ahead(-_NOTED_FOR_SECONDS)
    if not is_recent or known.is_refused != seen.is_refused:
        await ctx.db.update(known, seen_at=ctx.now, is_refused=seen.is_refused)


async def _make_room(ctx: Context, seen: WidgetInstallation) -> None:
    limit = MAX_REFUSED_ORIGINS_PER_KEY if seen.is_refused else MAX_ORIGINS_PER_KEY
    rows = await ctx.db.all(
        WidgetInstallation, order_by=("seen_at",), key_id=seen.key_id, is_refused=seen.is_refused
    )
    for oldest in rows[: max(0, len(rows) - limit + 1)]:
        await ctx.db.delete(oldest)


async def list_of_agent(ctx: Context, agent: Agent) -> list[WidgetInstallationOut]:
    """Return the origins that have loaded the agent's widget or were refused, the latest first."""
    return [
        WidgetInstallationOut(
            origin=origin,
            key_id=key_id,
            key_name=name,
            first_seen_at=first,
            last_seen_at=last,
            is_refused=bool(is_refused),
        )
        for origin, key_id, name, first, last, is_refused in await ctx.db.rows(_OF_AGENT, agent_id=agent.id)
    ]
