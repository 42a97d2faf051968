"""`Idempotency-Key`: a repeated request gets the first one's answer, and nothing happens twice.

The key is claimed in a transaction of its own; the answer is stored in the transaction of the work itself, so
after a crash either both exist or neither, and an abandoned claim may be taken over when its lease is up.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.http.incoming import Content
from retinue.kit.http.replies import Answer, error_answer
from retinue.kit.http.request import Request
from retinue.kit.jobs.declare import NoPayload, job

_KEPT_S = 24 * 3600
# How long a key stays claimed by a process that was killed; a living one renews its claim.
_LEASE_S = 10
_RENEW_S = 3


class IdempotencyConflict(RetinueError):
    """The first request with this idempotency key is still running."""

    status, code = 409, "idempotency_conflict"


class IdempotencyKeyReused(RetinueError):
    """This idempotency key was used for another request."""

    status, code = 422, "idempotency_key_reused"


@table("idempotency_keys", prefix="idk", indexes=[("expires_at",)])
class StoredAnswer(TenantRecord, kw_only=True):
    """A claimed key, and the answer once there is one."""

    request_hash: str
    lease_until: Instant
    expires_at: Instant
    status: int | None = None
    headers: list[list[str]] = []
    body: Sealed | None = None


_stored = StoredAnswer.__table__
_TAKE_OVER: Statement[Any] = Statement(
    sa.update(_stored)
    .where(_stored.c.id == sa.bindparam("record_id"), _stored.c.lease_until == sa.bindparam("seen_lease"))
    .values(lease_until=sa.bindparam("lease"), request_hash=sa.bindparam("hash"), status=None, body=None)
)
_RENEW: Statement[Any] = Statement(
    sa.update(_stored)
    .where(_stored.c.id == sa.bindparam("record_id"), _stored.c.status.is_(None))
    .values(lease_until=sa.bindparam("lease"))
)
_FORGET: Statement[Any] = Statement(sa.delete(_stored).where(_stored.c.id == sa.bindparam("record_id")))
_SWEEP: Statement[Any] = Statement(sa.delete(_stored).where(_stored.c.expires_at < sa.bindparam("now")))


async def once(
    ctx: Context, request: Request, content: Content, run: Callable[[], Awaitable[Answer]]
) -> Answer:
    key = request.header(b"idempotency-key")
    if not 0 < len(key) <= 255:
        raise Invalid({"Idempotency-Key": "must have 1 to 255 characters"})
    claim = StoredAnswer(
        id=_claim_id(ctx, request, key),
        tenant_id=ctx.tenant_id,
        request_hash=content.digest,
        lease_until=ctx.clock.ahead(_LEASE_S),
        expires_at=ctx.clock.ahead(_KEPT_S),
    )
    async with ctx.unit() as unit:
        replay = await _claim(unit, claim)
    if replay is not None:
        return replay
    renewal = asyncio.create_task(_keep_claimed(ctx, claim))
    try:
        answer = await run()
        await _store(ctx, claim, answer)
        await ctx.commit()
    except RetinueError as error:
        await ctx.rollback()
        answer = error_answer(error)
        async with ctx.unit() as unit:
            await _store(unit, claim, answer)
        raise
    except BaseException:
        await ctx.rollback()
        async with ctx.unit() as unit:
            await unit.system("release the claim").execute(_FORGET, record_id=claim.id)
        raise
    finally:
        renewal.cancel()
    return answer


async def _keep_claimed(ctx: Context, claim: StoredAnswer) -> None:
    """A long request, a chat for example, holds its key for as long as it runs."""
    while True:
        await asyncio.sleep(_RENEW_S)
        inner = Context(ctx.instance, ctx.principal, ctx.caller)
        async with inner:
            system = inner.system("the claim was made outside any tenant's fence")
            await system.execute(_RENEW, record_id=claim.id, lease=ctx.clock.ahead(_LEASE_S))


def _claim_id(ctx: Context, request: Request, key: str) -> str:
    parts = (ctx.tenant_id, ctx.principal.id, request.method, request.path, key)
    return "idk_" + hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


async def _claim(ctx: Context, claim: StoredAnswer) -> Answer | None:
    """None when the key is ours now; the stored answer when there is one."""
    system = ctx.system("anonymous callers of public objects have keys too")
    if await system.insert_missing(claim):
        return None
    found = await system.get(StoredAnswer, claim.id)
    if found is None:
        raise IdempotencyConflict
    is_abandoned = found.status is None and found.lease_until < ctx.now
    if is_abandoned or found.expires_at < ctx.now:
        taken = await system.execute(
            _TAKE_OVER,
            record_id=claim.id,
            seen_lease=found.lease_until,
            lease=claim.lease_until,
            hash=claim.request_hash,
        )
        if taken:
            return None
        raise IdempotencyConflict
    if found.request_hash != claim.request_hash:
        raise IdempotencyKeyReused
    if found.status is None or found.body is None:
        raise IdempotencyConflict
    headers = [(name.encode(), value.encode("latin-1")) for name, value in found.headers]
    headers.append((b"idempotent-replayed", b"true"))
    return Answer(found.status, headers, found.body.open(ctx.instance.ring))


async def _store(ctx: Context, claim: StoredAnswer, answer: Answer) -> None:
    """Faults of ours, refusals by a limit and streams are not kept: the client may simply try again."""
    system = ctx.system("the claim was made outside any tenant's fence")
    if answer.status >= 500 or answer.status == 429 or answer.chunks or answer.events:
        await system.execute(_FORGET, record_id=claim.id)
        return
    headers = [[name.decode(), value.decode("latin-1")] for name, value in answer.headers]
    await system.update(claim, status=answer.status, headers=headers, body=Sealed.of(answer.body))


@job(every_s=3600)
async def sweep_idempotency_keys(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    await ctx.system("keys of every tenant expire").execute(_SWEEP, now=ctx.now)
