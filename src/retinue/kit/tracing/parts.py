"""Parts of traces: started with a unit of work, stored in the transaction that ends it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from retinue.kit.clock import Clock, instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.db.session import SystemDb
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import JobKind
from retinue.kit.jobs.enqueue import new_job
from retinue.kit.jobs.models import Job
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.kit.tracing.names import SpanKind
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.policy import INSTANCE_EXPORTER
from retinue.kit.tracing.recorder import PartRecorder, current_part, current_span

_NOTHING: AbstractContextManager[PartRecorder | None] = nullcontext()


class ExporterToRun(msgspec.Struct):
    exporter_id: str


# A queue of its own: receivers that hang must not hold up other messages.
EXPORT_TRACES = JobKind("traces.export", ExporterToRun, queue="traces")
_EXPORT_DELAY_SECONDS = 1.0
"""Parts that end within this time go in one batch."""


class Spending(msgspec.Struct, frozen=True):
    """Tokens and cost of the model calls of a part; the cost is None if a price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None

    def less(self, before: "Spending | None") -> "Spending":
        """Return what was spent since `before`."""
        if before is None:
            return self
        is_priced = self.cost_usd is not None and before.cost_usd is not None
        return Spending(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            self.cached_tokens - before.cached_tokens,
            (self.cost_usd or 0) - (before.cost_usd or 0) if is_priced else None,
        )


_NO_SPENDING = Spending()


def recording_part(
    ctx: Context,
    name: str,
    kind: SpanKind,
    *,
    origin: TraceOrigin | None = None,
    is_optional: bool = False,
    is_nested: bool = True,
    **fields: str | None,
) -> AbstractContextManager[PartRecorder | None]:
    """Return a block whose work is recorded as a part; it yields None if this tenant's work is not traced.

    `origin` replaces the trace of the context; unless `is_nested`, the part hangs on it even if another span
    is current. `fields` are columns of the stored row.
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
        _cause(origin) if is_nested else origin,
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


async def store_part(unit: Context, spending: Spending = _NO_SPENDING) -> None:
    """Store the current part in this transaction, and queue it for its exporters."""
    part = current_part()
    if part is not None:
        await store_recorder(unit, part, spending)


async def store_recorder(unit: Context, part: PartRecorder, spending: Spending = _NO_SPENDING) -> None:
    if (row := build_row(unit, part, spending)) is not None:
        await unit.db.insert_at_commit(row)
        await queue_part(unit, part, row.id)


async def queue_part(unit: Context, part: PartRecorder, row_id: str) -> None:
    """Queue the part for its exporters, under the id of the row that tells about it."""
    part.is_stored = True
    for exporter_id in part.exporter_ids:
        await unit.db.insert_at_commit(QueuedTracePart(exporter_id=exporter_id, part_id=row_id))
        if exporter_id == INSTANCE_EXPORTER:
            continue  # A schedule sends the parts of all tenants together.
        unit.defer(
            EXPORT_TRACES,
            ExporterToRun(exporter_id),
            delay_s=_EXPORT_DELAY_SECONDS,
            dedupe_key=f"{EXPORT_TRACES.name}:{exporter_id}",
            lane=exporter_id,
        )


def leave_unrecorded() -> None:
    """Keep the current job out of traces: a trace of an export would have to be exported in its turn."""
    part = current_part()
    if part is not None and part.is_optional:
        part.is_stored = True


class FinishedPart(msgspec.Struct):
    """A part that the worker stores with the outcome of its job."""

    row: TracePart
    exporter_ids: tuple[str, ...]


def finished_part(ctx: Context, part: PartRecorder) -> FinishedPart | None:
    """Return the part of a job that has ended; None if it need not be stored."""
    if part.is_stored or not is_worth_storing(ctx, part):
        return None
    row = build_row(ctx, part)
    if row is None:
        return None
    row.tenant_id = ctx.tenant_id
    return FinishedPart(row, part.exporter_ids)


def is_worth_storing(ctx: Context, part: PartRecorder) -> bool:
    """Return whether the part says more than that a job ran which nobody waits for."""
    if not part.is_optional or part.root.span.error is not None:
        return True
    trace = ctx.caller.trace
    return not part.has_inner_part and (len(part.spans) > 1 or (trace is not None and bool(trace.span_id)))


async def store_finished_parts(system: SystemDb, clock: Clock, finished: Sequence[FinishedPart]) -> list[Job]:
    """Store parts of several tenants in the worker's transaction; return the jobs that export them."""
    await system.insert_many([one.row for one in finished])
    queued, jobs = [], []
    for one in finished:
        for exporter_id in one.exporter_ids:
            queued.append(
                QueuedTracePart(tenant_id=one.row.tenant_id, exporter_id=exporter_id, part_id=one.row.id)
            )
            if exporter_id == INSTANCE_EXPORTER:
                continue
            jobs.append(
                new_job(
                    EXPORT_TRACES,
                    ExporterToRun(exporter_id),
                    now=clock.time(),
                    tenant_id=one.row.tenant_id,
                    correlation_id=one.row.correlation_id,
                    hops=0,
                    actor={"type": "system", "id": ""},
                    delay_s=_EXPORT_DELAY_SECONDS,
                    dedupe_key=f"{EXPORT_TRACES.name}:{exporter_id}",
                    lane=exporter_id,
                )
            )
    await system.insert_many(queued)
    return jobs


def build_row(ctx: Context, part: PartRecorder, spending: Spending = _NO_SPENDING) -> TracePart | None:
    """End the part and return its row; None if the sample leaves it out."""
    spans = part.finish()
    if not is_kept(ctx, part):
        return None
    root = part.root.span
    error = root.error
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
        duration_us=root.duration_ns // 1_000,
        span_count=len(spans),
        input_tokens=spending.input_tokens,
        output_tokens=spending.output_tokens,
        cached_tokens=spending.cached_tokens,
        cost_usd=spending.cost_usd,
        correlation_id=ctx.caller.correlation_id,
        spans=spans,
        **fields,
    )


def is_kept(ctx: Context, part: PartRecorder) -> bool:
    """Return whether the sample keeps a part that has ended."""
    root = part.root.span
    return ctx.instance.tracing.keeps(
        ctx.tenant_id,
        part.trace_id,
        part.kind,
        root.duration_ns // 1_000,
        is_error=root.error is not None,
    )
