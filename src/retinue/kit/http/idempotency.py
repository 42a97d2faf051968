"""`Idempotency-Key`: a repeated request gets the response of the first one, and nothing happens twice.

The key is claimed in its own transaction; the response is stored in the transaction of the work, so after a
crash both exist or neither does. An abandoned claim may be taken over after its lease has expired. Work
committed before the response is a step (`kit.http.idempotent_steps`).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.context.context import IdempotencyClaim
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import ServerDefault, TenantRecord, table
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.failpoints import failpoint
from retinue.kit.http.error_format import ErrorFormat
from retinue.kit.http.replies import HttpResponse, render_error
from retinue.kit.http.request import Request, limit_address
from retinue.kit.http.request_content import RequestContent
from retinue.kit.jobs.worker_ids import is_known_dead, process_worker_id

log = structlog.get_logger("retinue.http")

_RETENTION_SECONDS = 24 * 3600
# How long a killed process keeps its claim; a running one renews it.
_LEASE_SECONDS = 10
_RENEW_SECONDS = 3


class IdempotencyConflict(RetinueError):
    """The first request with this idempotency key is still running. Try again in a moment."""

    status, code = 409, "idempotency_conflict"


class IdempotencyKeyReused(RetinueError):
    """This idempotency key was used for a different request. Use a new key."""

    status, code = 422, "idempotency_key_reused"


class NotRepeatable(RetinueError):
    """Streams cannot be replayed. Send the request without an Idempotency-Key."""

    status, code = 422, "idempotency_not_supported"


def refuse_for_stream(request: Request) -> None:
    """Refuse an idempotency key for a stream before any work is done."""
    if b"idempotency-key" in request.headers:
        raise NotRepeatable


@table("idempotency_keys", prefix="idk", indexes=[("expires_at",)])
class IdempotencyKey(TenantRecord, kw_only=True):
    """A claimed key, and the response once there is one."""

    request_hash: str
    lease_until: Instant
    expires_at: Instant
    status: int | None = None
    headers: list[list[str]] = []
    body: Sealed | None = None
    claimed_by: Annotated[str, ServerDefault("''")] = ""
    """The process that holds the claim; if it is known to be dead, the lease is not awaited."""


_stored = IdempotencyKey.__table__
# The last claimant holds the key: a takeover changes `created_at`, and a response ends the claim.
_OURS = sa.and_(
    _stored.c.id == sa.bindparam("record_id"),
    _stored.c.created_at == sa.bindparam("claimed_at"),
    _stored.c.status.is_(None),
)
_TAKE_OVER = Statement(
    sa.update(_stored)
    .where(_stored.c.id == sa.bindparam("record_id"), _stored.c.lease_until == sa.bindparam("seen_lease"))
    .values(
        created_at=sa.bindparam("claimed_at"),
        lease_until=sa.bindparam("lease"),
        expires_at=sa.bindparam("expires"),
        request_hash=sa.bindparam("hash"),
        claimed_by=sa.bindparam("claimed_by"),
        status=None,
        body=None,
    )
)
_RENEW = Statement(sa.update(_stored).where(_OURS).values(lease_until=sa.bindparam("lease")))
_RELEASE_CLAIM = Statement(sa.delete(_stored).where(_OURS))
_SWEEP = Statement(sa.delete(_stored).where(_stored.c.expires_at < sa.bindparam("now")))


async def run_idempotent(
    ctx: Context, request: Request, content: RequestContent, run: Callable[[], Awaitable[HttpResponse]]
) -> HttpResponse:
    key = request.header(b"idempotency-key")
    if not 0 < len(key) <= 255:
        raise Invalid({"Idempotency-Key": "must have 1 to 255 characters"})
    claim = IdempotencyKey(
        id=_claim_id(ctx, request, key),
        tenant_id=ctx.tenant_id,
        request_hash=_request_hash(request, content),
        lease_until=ctx.clock.ahead(_LEASE_SECONDS),
        expires_at=ctx.clock.ahead(_RETENTION_SECONDS),
        claimed_by=process_worker_id(),
    )
    replay = await ctx.run_in_unit(lambda unit: _claim(unit, claim), is_side_effect=False)
    if replay is not None:
        return replay
    renewal = asyncio.create_task(_renew_claim(ctx, claim))
    ctx.claim = IdempotencyClaim(claim.id, claim.tenant_id, claim.request_hash, claim.expires_at)
    try:
        response = await run()
        failpoint("before_answer_kept")
        await _store(ctx, claim, response)
        await ctx.commit()
    except BaseException as error:
        await ctx.rollback()
        await _store_refusal(ctx, claim, error, request.route.error_format)
        raise
    finally:
        renewal.cancel()
        await asyncio.wait([renewal])
    return response


async def _store_refusal(
    ctx: Context, claim: IdempotencyKey, error: BaseException, format: ErrorFormat | None
) -> None:
    """Store a refusal like any response; after any other failure, release the key."""
    refusal = render_error(error if isinstance(error, RetinueError) else RetinueError(), format)
    try:
        await ctx.run_in_unit(lambda unit: _store(unit, claim, refusal), is_side_effect=False)
    except IdempotencyConflict:
        pass  # taken over by another request, or committed although the confirmation failed
    except Exception:
        log.exception("idempotency_claim_not_released")


async def _renew_claim(ctx: Context, claim: IdempotencyKey) -> None:
    """Renew the claim while a long request, such as a chat, is running."""
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        try:
            async with Context(ctx.instance, ctx.principal, ctx.caller) as inner:
                system = inner.system("the claim was made outside any tenant's fence")
                lease = ctx.clock.ahead(_LEASE_SECONDS)
                await system.execute(_RENEW, record_id=claim.id, claimed_at=claim.created_at, lease=lease)
        except Exception:
            log.exception("idempotency_claim_not_renewed")


def _claim_id(ctx: Context, request: Request, key: str) -> str:
    parts = (
        ctx.tenant_id,
        ctx.principal.id or limit_address(ctx.caller.ip_address),
        request.method,
        request.path,
        key,
    )
    return "idk_" + hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _request_hash(request: Request, content: RequestContent) -> str:
    return hashlib.sha256(content.digest.encode() + b"?" + request.query_string).hexdigest()


async def _claim(ctx: Context, claim: IdempotencyKey) -> HttpResponse | None:
    """Claim the key; return None if it is now ours, or the stored response."""
    system = ctx.system("anonymous callers of public objects have keys too")
    if await system.insert_missing(claim):
        return None
    found = await system.get(IdempotencyKey, claim.id)
    if found is None:
        raise IdempotencyConflict
    is_abandoned = found.status is None and (found.lease_until < ctx.now or is_known_dead(found.claimed_by))
    if is_abandoned or found.expires_at < ctx.now:
        taken = await system.execute(
            _TAKE_OVER,
            record_id=claim.id,
            seen_lease=found.lease_until,
            claimed_at=claim.created_at,
            lease=claim.lease_until,
            expires=claim.expires_at,
            hash=claim.request_hash,
            claimed_by=claim.claimed_by,
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
    return HttpResponse(found.status, headers, found.body.open(ctx.instance.ring))


async def _store(ctx: Context, claim: IdempotencyKey, response: HttpResponse) -> None:
    """Store the response; server errors, rate limits and streams release the key for a retry instead."""
    system = ctx.system("the claim was made outside any tenant's fence")
    if response.status >= 500 or response.status == 429 or response.streams:
        await system.execute(_RELEASE_CLAIM, record_id=claim.id, claimed_at=claim.created_at)
        return
    stored = await system.lock(IdempotencyKey, claim.id)
    if stored is None or stored.created_at != claim.created_at or stored.status is not None:
        raise IdempotencyConflict
    headers = [[name.decode(), value.decode("latin-1")] for name, value in response.headers]
    await system.update(stored, status=response.status, headers=headers, body=Sealed.of(response.body))


async def purge_idempotency_keys(ctx: Context) -> None:
    await ctx.system("keys of every tenant expire").execute(_SWEEP, now=ctx.now)
