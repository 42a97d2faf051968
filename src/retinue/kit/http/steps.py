"""Steps of a request: what it commits on the way, while its answer is still to come.

A request that starts something and then waits for it has no one transaction to keep its answer in. With an
`Idempotency-Key`, what came of a step is kept in the step's own transaction: a repetition after a crash finds
it and goes on from there, and of two that are at it at once only one commits.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.statements import Statement
from retinue.kit.failpoints import failpoint
from retinue.kit.http.idempotency import IdempotencyKeyReused, StoredAnswer

T = TypeVar("T")

_stored = StoredAnswer.__table__
_FORGET_EXPIRED: Statement[Any] = Statement(
    sa.delete(_stored).where(
        _stored.c.id == sa.bindparam("record_id"), _stored.c.expires_at < sa.bindparam("now")
    )
)


class _DoneByAnother(Exception):
    """The step is in the database already, so the transaction must not be."""


async def step(ctx: Context, name: str, kind: type[T], work: Callable[[Context], Awaitable[T]]) -> T:
    """What `work` gives, done in a transaction of its own: once, however often the request is repeated.

    `name` tells the steps of a request apart, and `kind` is what can be kept of `work` as JSON.
    """
    claim = ctx.claim
    if claim is None:
        async with ctx.unit() as unit:
            return await work(unit)
    kept = StoredAnswer(
        id=f"{claim.id}:{name}",
        tenant_id=claim.tenant_id,
        request_hash=claim.request_hash,
        lease_until=claim.expires_at,
        expires_at=claim.expires_at,
    )
    found = (
        await ctx.apart().system("the claim was made outside any tenant's fence").get(StoredAnswer, kept.id)
    )
    if found is not None and found.body is not None and found.expires_at >= ctx.now:
        if found.request_hash != kept.request_hash:
            raise IdempotencyKeyReused
        return msgspec.json.decode(found.body.open(ctx.instance.ring), type=kind)
    try:
        async with ctx.unit() as unit:
            result = await work(unit)
            kept.body = Sealed.of(msgspec.json.encode(result))
            await _keep(unit, kept)
    except _DoneByAnother:
        # Whoever held the key before was only slow, and has committed meanwhile.
        return await step(ctx, name, kind, work)
    failpoint("after_step")
    return result


async def _keep(unit: Context, kept: StoredAnswer) -> None:
    system = unit.system("the claim was made outside any tenant's fence")
    await system.execute(_FORGET_EXPIRED, record_id=kept.id, now=unit.now)
    if not await system.insert_missing(kept):
        raise _DoneByAnother
