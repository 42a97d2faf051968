"""`Idempotency-Key`: a repeated request gets the first one's answer, and nothing happens twice.

The key is claimed in a transaction of its own; the answer is stored in the transaction of the work itself, so
after a crash either both exist or neither, and an abandoned claim may be taken over when its lease is up.
What is committed before the answer is a step (`kit.http.steps`).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.failpoints import failpoint
from retinue.kit.http.incoming import Content
from retinue.kit.http.replies import Answer, error_answer
from retinue.kit.http.request import Request, limit_address
from retinue.kit.jobs.declare import NoPayload, job

log = structlog.get_logger("retinue.http")

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


class NotRepeatable(RetinueError):
    """A stream is not kept, so it cannot be given again: send no Idempotency-Key with it."""

    status, code = 422, "idempotency_not_supported"


def refuse_for_stream(request: Request) -> None:
    """Before anything happens: whoever sends a key trusts that nothing happens twice."""
    if b"idempotency-key" in request.headers:
        raise NotRepeatable


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
# Whoever claimed last holds the key: a takeover changes `created_at`, and an answer ends the claim.
_OURS = sa.and_(
    _stored.c.id == sa.bindparam("record_id"),
    _stored.c.created_at == sa.bindparam("claimed_at"),
    _stored.c.status.is_(None),
)
_TAKE_OVER: Statement[Any] = Statement(
    sa.update(_stored)
    .where(_stored.c.id == sa.bindparam("record_id"), _stored.c.lease_until == sa.bindparam("seen_lease"))
    .values(
        created_at=sa.bindparam("claimed_at"),
        lease_until=sa.bindparam("lease"),
        expires_at=sa.bindparam("expires"),
        request_hash=sa.bindparam("hash"),
        status=None,
        body=None,
    )
)
_RENEW: Statement[Any] = Statement(sa.update(_stored).where(_OURS).values(lease_until=sa.bindparam("lease")))
_FORGET: Statement[Any] = Statement(sa.delete(_stored).where(_OURS))
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
        request_hash=_request_hash(request, content),
        lease_until=ctx.clock.ahead(_LEASE_S),
        expires_at=ctx.clock.ahead(_KEPT_S),
    )
    async with ctx.unit() as unit:
        replay = await _claim(unit, claim)
    if replay is not None:
        return replay
    renewal = asyncio.create_task(_keep_claimed(ctx, claim))
    ctx.claim = claim
    try:
        answer = await run()
        failpoint("before_answer_kept")
        await _store(ctx, claim, answer)
        await ctx.commit()
    except BaseException as error:
        await ctx.rollback()
        await _settle(ctx, claim, error)
        raise
    finally:
        renewal.cancel()
        await asyncio.wait([renewal])
    return answer


async def _settle(ctx: Context, claim: StoredAnswer, error: BaseException) -> None:
    """After a failure: a refusal is kept like any answer, everything else frees the key."""
    refusal = error_answer(error if isinstance(error, RetinueError) else RetinueError())
    try:
        async with ctx.unit() as unit:
            await _store(unit, claim, refusal)
    except IdempotencyConflict:
        pass  # It is another's by now, or the commit did happen and only its confirmation failed.
    except Exception:
        log.exception("idempotency claim left to its lease")


async def _keep_claimed(ctx: Context, claim: StoredAnswer) -> None:
    """A long request, a chat for example, holds its key for as long as it runs."""
    while True:
        await asyncio.sleep(_RENEW_S)
        try:
            async with Context(ctx.instance, ctx.principal, ctx.caller) as inner:
                system = inner.system("the claim was made outside any tenant's fence")
                lease = ctx.clock.ahead(_LEASE_S)
                await system.execute(_RENEW, record_id=claim.id, claimed_at=claim.created_at, lease=lease)
        except Exception:
            log.exception("idempotency claim not renewed")


def _claim_id(ctx: Context, request: Request, key: str) -> str:
    parts = (
        ctx.tenant_id,
        ctx.principal.id or limit_address(ctx.caller.ip_address),
        request.method,
        request.path,
        key,
    )
    return "idk_" + hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _request_hash(request: Request, content: Content) -> str:
    return hashlib.sha256(content.digest.encode() + b"?" + request.query_string).hexdigest()


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
            claimed_at=claim.created_at,
            lease=claim.lease_until,
            expires=claim.expires_at,
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
    if answer.status >= 500 or answer.status == 429 or answer.streams:
        await system.execute(_FORGET, record_id=claim.id, claimed_at=claim.created_at)
        return
    held = await system.lock(StoredAnswer, claim.id)
    if held is None or held.created_at != claim.created_at or held.status is not None:
        raise IdempotencyConflict
    headers = [[name.decode(), value.decode("latin-1")] for name, value in answer.headers]
    await system.update(held, status=answer.status, headers=headers, body=Sealed.of(answer.body))


@job(every_s=3600)
async def sweep_idempotency_keys(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001
    await ctx.system("keys of every tenant expire").execute(_SWEEP, now=ctx.now)
