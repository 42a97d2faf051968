"""The job that deletes signing keys whose last token has expired."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState

_keys = InstanceKey.__table__
_RETIRE = Statement(
    sa.delete(_keys).where(
        _keys.c.purpose == KeyPurpose.signing.value,
        _keys.c.state == KeyState.old.value,
        _keys.c.retire_at <= sa.bindparam("now"),
    )
)


async def retire_signing_keys(ctx: Context) -> None:
    await ctx.system("the instance's own keys").execute(_RETIRE, now=ctx.now)
