"""Parts of traces: started with a unit of work, stored in the transaction that ends it."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from retinue.kit.clock import instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import JobKind
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.kit.tracing.names import SpanKind
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.recorder import PartRecorder, current_part, current_span

_NOTHING: AbstractContextManager[PartRecorder | None] = nullcontext()


class ExporterToRun(msgspec.Struct):
    exporter_id: str


EXPORT_TRACES = JobKind("traces.export", ExporterToRun, queue="messages")
_EXPORT_DELAY_SECONDS = 1.0
"""Parts that end within this time go in one batch."""


class TurnSpending(msgspec.Struct, frozen=True):
    """What the model calls of a part used and cost, as lists show it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None


_NO_SPENDING = TurnSpending()


def recording_part(
    ctx: Context,
    name: str,
    kind: SpanKind,
    *,
    origin: TraceOrigin | None = None,
    is_optional: bool = False,
    **fields: str | None,
) -> AbstractContextManager[PartRecorder | None]:
    """Return a block whose work is recorded as a part; it yields None if this tenant's work is not traced.

    `origin` replaces the trace of the context. `fields` are columns of the stored row.
    """
    policy, origin = ctx.instance.tracing, origin or ctx.caller.trace
    if origin is None or not ctx.tenant_id:
        return _NOTHING
    exporter_ids = policy.exporters_of(ctx.tenant_id)
    if not policy.is_stored and not exporter_ids:
        return _NOTHING
    return PartRecorder(
        name,
        kind,
        _cause(origin),
        wall_seconds=ctx.clock.time(),
        exporter_ids=exporter_ids,
        is_optional=is_optional,
        fields=fields,
    )


def _cause(origin: TraceOrigin) -> TraceOrigin:
    """Return what the new part hangs on: the current span, or the cause of the request or job."""
    active = current_span()
    if active is None:
        return origin
    if not active.part.is_optional:
        return TraceOrigin(active.part.trace_id, active.span.span_id)
    active.part.has_inner_part = True
    return origin


async def store_part(unit: Context, spending: TurnSpending = _NO_SPENDING) -> None:
    """Store the current part in this transaction, and queue it for its exporters."""
    part = current_part()
    if part is not None and (row := build_row(unit, part, spending)) is not None:
        await unit.db.insert_at_commit(row)
        for exporter_id in part.exporter_ids:
            await unit.db.insert_at_commit(QueuedTracePart(exporter_id=exporter_id, part_id=row.id))
            unit.defer(
                EXPORT_TRACES,
                ExporterToRun(exporter_id),
                delay_s=_EXPORT_DELAY_SECONDS,
                dedupe_key=f"{EXPORT_TRACES.name}:{exporter_id}",
                lane=exporter_id,
            )


def build_row(ctx: Context, part: PartRecorder, spending: TurnSpending = _NO_SPENDING) -> TracePart | None:
    """End the part and return its row; None if the sample leaves it out."""
    spans = part.finish()
    root = part.root.span
    duration_us = root.duration_ns // 1_000
    error = root.error
    policy = ctx.instance.tracing
    if not policy.keeps(part.trace_id, part.kind, duration_us, is_error=error is not None):
        return None
    fields: Mapping[str, Any] = part.fields
    return TracePart(
        id=new_id(TracePart.__prefix__),
        trace_id=part.trace_id,
        root_span_id=root.span_id,
        parent_span_id=root.parent_span_id,
        is_first=root.parent_span_id is None or part.origin.is_remote,
        kind=part.kind,
        name=root.name,
        status=root.status,
        error_code=error.code if error is not None else None,
        error_message=error.message if error is not None else None,
        started_at=instant_from_timestamp(root.started_ns / 1e9),
        duration_us=duration_us,
        span_count=len(spans),
        input_tokens=spending.input_tokens,
        output_tokens=spending.output_tokens,
        cached_tokens=spending.cached_tokens,
        cost_usd=spending.cost_usd,
        correlation_id=ctx.caller.correlation_id,
        spans=spans,
        **fields,
    )
