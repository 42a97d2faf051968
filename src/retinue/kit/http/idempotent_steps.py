"""Idempotent steps: parts of a request that are committed before its response.

A request that starts something and then waits for it has no single transaction for its response. With an
`Idempotency-Key`, the result of each step is stored in the step's own transaction: a retry after a crash
finds it and continues from there, and of two concurrent requests only one commits.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.context import IdempotencyClaim
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.failpoints import failpoint
from retinue.kit.http.idempotency import IdempotencyKey, IdempotencyKeyReused

T = TypeVar("T")

_stored = IdempotencyKey.__table__
_DELETE_EXPIRED = Statement(
    sa.delete(_stored).where(
        _stored.c.id == sa.bindparam("record_id"), _stored.c.expires_at < sa.bindparam("now")
    )
)


class _DoneByAnother(Exception):
    """Another request has stored the step, so this transaction must be rolled back."""


async def idempotent_step(
    ctx: Context, name: str, kind: type[T], work: Callable[[Context], Awaitable[T]]
) -> T:
    """Run `work` in its own transaction and return its result; retries of the request do not run it again.

    `name` identifies the step within the request; `kind` is the type of the result, which is stored as JSON.
    """
    claim = ctx.claim
    if claim is None:
        return await ctx.run_in_unit(work)
    stored = await find_step_result(ctx, name, kind)
    if stored is not None:
        return stored
    record = IdempotencyKey(
        id=_record_id(claim, name),
        tenant_id=claim.tenant_id,
        request_hash=claim.request_hash,
        lease_until=claim.expires_at,
        expires_at=claim.expires_at,
    )

    async def work_and_keep(unit: Context) -> T:
        result = await work(unit)
        record.body = Sealed.of(msgspec.json.encode(result))
        await _keep(unit, record)
        return result

    try:
        result = await ctx.run_in_unit(work_and_keep, is_side_effect=False)
    except _DoneByAnother:
        # The previous holder of the key was only slow and has committed in the meantime.
        return await idempotent_step(ctx, name, kind, work)
    failpoint("after_step")
    return result


async def find_step_result(ctx: Context, name: str, kind: type[T]) -> T | None:
    """Return what an earlier attempt of the request stored for this step; None if it did not get there."""
    claim = ctx.claim
    if claim is None:
        return None
    system = ctx.detached().system("the claim was made outside any tenant's fence")
    stored = await system.get(IdempotencyKey, _record_id(claim, name))
    if stored is None or stored.body is None or stored.expires_at < ctx.now:
        return None
    if stored.request_hash != claim.request_hash:
        raise IdempotencyKeyReused
    return msgspec.json.decode(stored.body.open(ctx.instance.ring), type=kind)


def _record_id(claim: IdempotencyClaim, name: str) -> str:
    return f"{claim.id}:{name}"


async def _keep(unit: Context, record: IdempotencyKey) -> None:
    system = unit.system("the claim was made outside any tenant's fence")
    await system.execute(_DELETE_EXPIRED, record_id=record.id, now=unit.now)
    if not await system.insert_missing(record):
        raise _DoneByAnother
