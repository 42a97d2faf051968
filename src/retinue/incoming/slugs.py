"""The slugs of incoming webhooks: random where none is wanted, and held for their tenant once given up.

Senders go on sending to an address for a while after it is gone, and nobody else must receive that.
"""

import sqlalchemy as sa

from retinue.incoming.errors import IncomingSlugTaken
from retinue.incoming.models import HeldSlug
from retinue.kit.context import Context
from retinue.kit.db.forgetting import forget_everywhere, forgetting
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id

HELD_S = 90 * 24 * 3600

_RANDOM_LETTERS = 16

_held = HeldSlug.__table__
_OLD = forgetting(_held, _held.c.created_at < sa.bindparam("before", type_=_held.c.created_at.type))
_FREE: Statement[object] = Statement(sa.delete(_held).where(_held.c.slug == sa.bindparam("slug")))


def random_slug() -> str:
    return new_id("").removeprefix("_")[:_RANDOM_LETTERS]


async def take(ctx: Context, slug: str) -> None:
    """After a webhook was stored with the slug: only then is one that gives it up at this moment seen too."""
    system = ctx.system("a slug is one of a kind in the whole instance")
    held = await system.find(HeldSlug, slug=slug)
    if held is None:
        return
    if held.tenant_id != ctx.tenant_id and held.created_at > ctx.clock.ahead(-HELD_S):
        raise IncomingSlugTaken
    await system.execute(_FREE, slug=slug)


async def give_up(ctx: Context, slug: str) -> None:
    await ctx.db.insert_missing(HeldSlug(slug=slug))


async def forget(ctx: Context) -> None:
    await forget_everywhere(ctx, _OLD, before=ctx.clock.ahead(-HELD_S))
