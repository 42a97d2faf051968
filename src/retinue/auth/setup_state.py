"""Whether the set-up is open, and its end, which the first sign-in of an administrator brings about."""

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.auth.models import InstanceSetup
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.users.models import User

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


async def is_open(ctx: Context) -> bool:
    """Return whether a printed link still makes the first administrator."""
    setup = await ctx.system("the set-up belongs to the instance").get(InstanceSetup, SETUP_ID)
    return setup is not None and setup.closed_at is None and bool(setup.token_hashes)


def ends_setup(user: User) -> bool:
    """Return whether a sign-in of this account shows that the instance has its administrator.

    Anybody can register, so nobody else may take the link away from the person who started the server.
    """
    return user.role is Role.super_admin and not user.is_pending


async def close_setup(ctx: Context) -> None:
    """Close the set-up for good; the printed links stop working."""
    await ctx.system("the set-up belongs to the instance").execute(_CLOSE, now=ctx.now, no_tokens=[])
