"""Delivery of audit rows to streams: in order, from a cursor, at least once, for as long as it takes."""

import msgspec
import sqlalchemy as sa

from retinue import __version__
from retinue.audit import queries
from retinue.audit.job_kinds import SEND_STREAM, StreamToSend
from retinue.audit.models import AuditStream
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.events.log import hashed_fields
from retinue.kit.events.models import AuditEntry, AuditHead
from retinue.kit.webhook_signing import signature_headers

TIMEOUT_SECONDS = 15
MAX_BATCHES = 20
"""Batches of one job; the next round goes on, so that no tenant holds a worker for long."""

_FIRST_RETRY_SECONDS = 5.0
_MAX_RETRY_SECONDS = 3_600.0

_streams, _heads = AuditStream.__table__, AuditHead.__table__
_DUE = Statement(
    sa.select(_streams.c.tenant_id, _streams.c.id)
    .join(_heads, _heads.c.id == _streams.c.tenant_id)
    .where(
        _streams.c.enabled.is_(sa.true()),
        _streams.c.due_at <= sa.bindparam("now"),
        _streams.c.cursor < _heads.c.sequence,
    )
)
# Only forward, and only if no other worker was faster.
_ADVANCE = Statement(
    sa.update(_streams)
    .where(
        _streams.c.id == sa.bindparam("stream_id"),
        _streams.c.cursor == sa.bindparam("seen", type_=sa.BigInteger()),
    )
    .values(
        cursor=sa.bindparam("sent", type_=sa.BigInteger()),
        failure_count=0,
        last_error=None,
        last_sent_at=sa.bindparam("now"),
    )
)
decode_headers = msgspec.json.Decoder(dict[str, str]).decode


async def enqueue_due_streams(ctx: Context) -> None:
    """Enqueue the streams that have rows to send."""
    for tenant_id, stream_id in await ctx.system("streams of every tenant").rows(_DUE, now=ctx.now):
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(SEND_STREAM, StreamToSend(stream_id), dedupe_key=stream_id, lane=stream_id)


async def send_stream(ctx: Context, payload: StreamToSend) -> None:
    """Send the rows after the cursor, batch by batch, until none is left or the receiver refuses."""
    for _ in range(MAX_BATCHES):
        stream = await ctx.db.get(AuditStream, payload.stream_id)
        if stream is None or not stream.enabled or stream.due_at > ctx.now:
            return
        rows = await queries.read_after(ctx, stream.cursor)
        if not rows:
            return
        error = await post(ctx, stream, rows)
        async with ctx.unit() as unit:
            if error is not None:
                await _postpone(unit, stream, error)
                return
            await unit.db.execute(
                _ADVANCE, stream_id=stream.id, seen=stream.cursor, sent=rows[-1].sequence, now=unit.now
            )


async def _postpone(unit: Context, stream: AuditStream, error: str) -> None:
    locked = await unit.db.lock(AuditStream, stream.id)
    if locked is not None:
        delay_s = min(_MAX_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2.0 ** min(locked.failure_count, 20))
        await unit.db.update(
            locked,
            failure_count=locked.failure_count + 1,
            last_error=error,
            due_at=unit.clock.ahead(delay_s),
        )


async def post(ctx: Context, stream: AuditStream, rows: list[AuditEntry]) -> str | None:
    """Post a batch; return why it was not accepted, or None."""
    body = msgspec.json.encode([{**hashed_fields(row), "hash": row.hash} for row in rows], order="sorted")
    batch_id = f"{stream.id}-{rows[-1].sequence}" if rows else f"{stream.id}-test"
    try:
        async with ctx.adapter(Egress).request(
            "POST",
            stream.url,
            timeout_s=TIMEOUT_SECONDS,
            headers=_headers(ctx, stream, batch_id, body),
            content=body,
            require_https=True,
        ) as response:
            if 200 <= response.status < 300:
                return None
            return f"The receiver answered {response.status}."
    except VaultSealed:
        raise
    except RetinueError as error:
        return error.message


def _headers(ctx: Context, stream: AuditStream, batch_id: str, body: bytes) -> dict[str, str]:
    ring = ctx.instance.ring
    given = decode_headers(stream.header_values.open(ring)) if stream.header_values else {}
    own = {
        "Content-Type": "application/json",
        "User-Agent": f"Retinue/{__version__}",
        **signature_headers(
            stream.secret.open(ring).decode(),
            event_id=batch_id,
            timestamp=int(ctx.clock.time()),
            body=body,
        ),
    }
    taken = {name.lower() for name in own}
    return {**{name: value for name, value in given.items() if name.lower() not in taken}, **own}
