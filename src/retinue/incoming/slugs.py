"""Slugs of incoming webhooks: random by default, and held for their tenant after release.

Senders keep sending to a deleted URL for a while, and no other tenant must receive that.
"""

import sqlalchemy as sa

from retinue.incoming.errors import IncomingSlugTaken
from retinue.incoming.models import HeldSlug
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.kit.purge import purge_all_tenants, purge_statement

HOLD_SECONDS = 90 * 24 * 3600

_RANDOM_LENGTH = 16

_held = HeldSlug.__table__
_EXPIRED = purge_statement(_held, _held.c.created_at < sa.bindparam("before", type_=_held.c.created_at.type))
_DELETE_HELD: Statement[object] = Statement(sa.delete(_held).where(_held.c.slug == sa.bindparam("slug")))


def random_slug() -> str:
    return new_id("").removeprefix("_")[:_RANDOM_LENGTH]


async def claim(ctx: Context, slug: str) -> None:
    """Raise if another tenant holds the slug. Runs after the insert, to see concurrent releases."""
    system = ctx.system("a slug is one of a kind in the whole instance")
    held = await system.find(HeldSlug, slug=slug)
    if held is None:
        return
    if held.tenant_id != ctx.tenant_id and held.created_at > ctx.clock.ahead(-HOLD_SECONDS):
        raise IncomingSlugTaken
    await system.execute(_DELETE_HELD, slug=slug)


async def release(ctx: Context, slug: str) -> None:
    await ctx.db.insert_missing(HeldSlug(slug=slug))


async def purge_expired(ctx: Context) -> None:
    await purge_all_tenants(ctx, _EXPIRED, before=ctx.clock.ahead(-HOLD_SECONDS))
