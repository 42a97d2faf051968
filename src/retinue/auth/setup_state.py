"""The end of the set-up, which every first sign-in of an account brings about."""

import sqlalchemy as sa

from retinue.auth.models import InstanceSetup
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

SETUP_ID = "stp_instance"

_setup = InstanceSetup.__table__
_CLOSE = Statement(
    sa.update(_setup)
    .where(_setup.c.id == SETUP_ID, _setup.c.closed_at.is_(None))
    .values(
        closed_at=sa.bindparam("now"),
        updated_at=sa.bindparam("now"),
        token_hashes=sa.bindparam("no_tokens", type_=_setup.c.token_hashes.type),
    )
)


async def close_setup(ctx: Context) -> None:
    """Close the set-up for good; the printed links stop working."""
    await ctx.system("the set-up belongs to the instance").execute(_CLOSE, now=ctx.now, no_tokens=[])
