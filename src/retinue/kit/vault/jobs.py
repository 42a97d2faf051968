"""Signing keys whose last token has expired go."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.kit.vault.models import InstanceKey, KeyPurpose, KeyState

_keys = InstanceKey.__table__
_RETIRE: Statement[Any] = Statement(
    sa.delete(_keys).where(
        _keys.c.purpose == KeyPurpose.signing.value,
        _keys.c.state == KeyState.old.value,
        _keys.c.retire_at <= sa.bindparam("now"),
    )
)


@job(every_s=300)
async def retire_signing_keys(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    await ctx.system("the instance's own keys").execute(_RETIRE, now=ctx.now)
