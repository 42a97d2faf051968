"""Export of traces: batches from the queue of each exporter, at least once, given up after 15 minutes.

A tenant's exporter sends that tenant's parts; the operator's exporter sends those of all tenants, and one job
at a time does so in the whole instance.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.failpoints import failpoint
from retinue.kit.json_types import JsonObject
from retinue.kit.metrics import declarations as metrics
from retinue.kit.tracing import names
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.kit.tracing.parts import EXPORT_TRACES, ExporterToRun, leave_unrecorded
from retinue.kit.tracing.policy import INSTANCE_EXPORTER
from retinue.kit.tracing.row_attributes import complete_spans
from retinue.traces import export_queue
from retinue.traces.content import load_content
from retinue.traces.directory import ExporterDirectory
from retinue.traces.export_queue import ExportBatch
from retinue.traces.exporters import receiver_of
from retinue.traces.models import PROGRESS_COLUMNS, InstanceTraceExport, OtlpEncoding, TraceExporter
from retinue.traces.otlp import OutgoingSpan, parse_pairs
from retinue.traces.receiver import OtlpReceiver, ReceiverAnswer, post_spans

MAX_BATCHES = 100
"""Batches of one job; the next one goes on, so that no tenant holds a worker for long."""
GIVE_UP_SECONDS = 900
_FIRST_RETRY_SECONDS = 5.0
_MAX_RETRY_SECONDS = 120.0
_MAX_DOUBLINGS = 10

ExportState = TraceExporter | InstanceTraceExport

_exporters, _queue = TraceExporter.__table__, QueuedTracePart.__table__
_DUE = Statement(
    sa.select(_exporters.c.tenant_id, _exporters.c.id).where(
        _exporters.c.enabled == sa.true(),
        _exporters.c.due_at <= sa.bindparam("now"),
        sa.exists().where(_queue.c.exporter_id == _exporters.c.id),
    )
)
_HAS_QUEUED = Statement(
    sa.select(_queue.c.id)
    .where(_queue.c.exporter_id == sa.bindparam("exporter_id", type_=sa.Text()))
    .limit(1)
)


def _progress_statement(table: sa.Table) -> Statement[Any]:
    values = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in PROGRESS_COLUMNS}
    return Statement(sa.update(table).where(table.c.id == sa.bindparam("record_id")).values(values))


_SAVE_PROGRESS: dict[type[ExportState], Statement[Any]] = {
    record: _progress_statement(record.__table__) for record in (TraceExporter, InstanceTraceExport)
}


async def enqueue_exports(ctx: Context) -> None:
    """Enqueue the exporters that have parts to send."""
    leave_unrecorded()
    system = ctx.system("exporters of every tenant")
    due: list[Any] = [*await system.rows(_DUE, now=ctx.now)]
    if ctx.settings.otlp_endpoint and await system.scalar(_HAS_QUEUED, exporter_id=INSTANCE_EXPORTER):
        due.append(("", INSTANCE_EXPORTER))
    for tenant_id, exporter_id in due:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(
                EXPORT_TRACES,
                ExporterToRun(exporter_id),
                dedupe_key=f"{EXPORT_TRACES.name}:{exporter_id}",
                lane=exporter_id,
            )


async def export_traces(ctx: Context, payload: ExporterToRun) -> None:
    """Send what waits for an exporter, batch by batch, until nothing is left or the receiver fails."""
    leave_unrecorded()
    for _ in range(MAX_BATCHES):
        target = await _find_target(ctx, payload.exporter_id)
        if target is None or target.state.due_at > ctx.now:
            return
        batch = await export_queue.read_batch(target.database(ctx), target.exporter_id)
        if not batch.queue_ids or not await _send(ctx, target, batch):
            return


class ExportTarget(msgspec.Struct, frozen=True, kw_only=True):
    """An exporter with its receiver; `state` is its progress."""

    exporter_id: str
    state: ExportState
    receiver: OtlpReceiver
    sample: float = 1.0
    include_content: bool = False

    def database(self, ctx: Context) -> SystemDb:
        """Return what the exporter may see: its tenant, or for the operator's own all of them."""
        return ctx.system("parts of every tenant") if self.exporter_id == INSTANCE_EXPORTER else ctx.db

    def wants(self, part: TracePart) -> bool:
        """Return whether the part is in the sample; errors always are."""
        is_sampled = int(part.trace_id[-8:], 16) < self.sample * 0x1_0000_0000
        return is_sampled or part.error_code is not None


async def _find_target(ctx: Context, exporter_id: str) -> ExportTarget | None:
    if exporter_id == INSTANCE_EXPORTER:
        return await _instance_target(ctx) if not ctx.tenant_id and ctx.settings.otlp_endpoint else None
    exporter = await ctx.db.get(TraceExporter, exporter_id)
    if exporter is None or not exporter.enabled:
        return None
    return ExportTarget(
        exporter_id=exporter.id,
        state=exporter,
        receiver=receiver_of(ctx, exporter),
        sample=exporter.sample,
        include_content=exporter.include_content,
    )


async def _instance_target(ctx: Context) -> ExportTarget:
    settings = ctx.settings
    state = await ctx.system("the operator's exporter").get(InstanceTraceExport, INSTANCE_EXPORTER)
    if state is None:
        state = InstanceTraceExport(id=INSTANCE_EXPORTER, due_at=ctx.now)
        async with ctx.unit() as unit:
            await unit.system("the operator's exporter").insert_missing(state)
    headers = settings.otlp_headers.reveal() if settings.otlp_headers is not None else ""
    receiver = OtlpReceiver(
        settings.otlp_endpoint,
        parse_pairs(headers),
        OtlpEncoding.json if settings.otlp_protocol == "http/json" else OtlpEncoding.protobuf,
        ctx.state(ExporterDirectory).operator_egress,
    )
    return ExportTarget(exporter_id=INSTANCE_EXPORTER, state=state, receiver=receiver)


async def _send(ctx: Context, target: ExportTarget, batch: ExportBatch) -> bool:
    """Send a batch and record the result; return whether to go on with the next."""
    parts = [part for part in batch.parts if target.wants(part)]
    spans = await _outgoing(ctx, target, parts)
    failpoint("before_trace_send")
    answer = await post_spans(ctx, target.receiver, spans) if spans else None
    failpoint("after_trace_send")

    async def record(unit: Context) -> int:
        if answer is not None and answer.outcome == "postponed":
            return await _postpone(unit, target, answer)
        await export_queue.remove(target.database(unit), batch.queue_ids)
        return 0 if answer is None else await _record_progress(unit, target, answer, len(spans))

    dropped = await ctx.run_in_unit(record)
    if answer is not None:
        sent = len(spans) - dropped if answer.outcome == "accepted" else 0
        metrics.SPANS_EXPORTED.count("sent", amount=sent)
        metrics.SPANS_EXPORTED.count("dropped", amount=dropped)
    return answer is None or answer.outcome != "postponed"


async def _outgoing(ctx: Context, target: ExportTarget, parts: list[TracePart]) -> list[OutgoingSpan]:
    content: dict[str, JsonObject] = {}
    if target.include_content and parts:
        content = await load_content(ctx, parts)
    return [
        OutgoingSpan(part.trace_id, span, {names.TENANT_ID: part.tenant_id, **content.get(span.span_id, {})})
        for part in parts
        for span in complete_spans(part)
    ]


async def _record_progress(
    unit: Context, target: ExportTarget, answer: ReceiverAnswer, span_count: int
) -> int:
    """Record that the receiver accepted or refused the batch; return the number of spans it did not take."""
    is_accepted = answer.outcome == "accepted"
    dropped = min(answer.rejected_count, span_count) if is_accepted else span_count
    state = await _lock_state(unit, target)
    if state is not None:
        state.dropped_spans += dropped
        state.sent_spans += span_count - dropped
        state.last_error = answer.error
        state.failure_count = 0
        state.failing_since = None if answer.error is None else state.failing_since or unit.now
        state.last_sent_at = unit.now if is_accepted else state.last_sent_at
        await _save_progress(unit, target, state)
    return dropped


async def _postpone(unit: Context, target: ExportTarget, answer: ReceiverAnswer) -> int:
    """Try again later; give up what has waited too long. Return the number of spans given up."""
    state = await _lock_state(unit, target)
    if state is None:
        return 0
    dropped, limit = 0, unit.clock.ahead(-GIVE_UP_SECONDS)
    state.failing_since = state.failing_since or unit.now
    # After a pause of the worker itself, everything is old: it gets the full time as well.
    if state.failing_since <= limit:
        dropped = await export_queue.remove_older(target.database(unit), target.exporter_id, limit)
    state.dropped_spans += dropped
    state.last_error = answer.error
    state.due_at = _next_attempt(unit, state.failure_count, answer.retry_after_s)
    state.failure_count += 1
    await _save_progress(unit, target, state)
    return dropped


def _next_attempt(unit: Context, failure_count: int, retry_after_s: float | None) -> Instant:
    delay_s = min(_MAX_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2.0 ** min(failure_count, _MAX_DOUBLINGS))
    return unit.clock.ahead(max(delay_s, retry_after_s or 0.0))


async def _lock_state(unit: Context, target: ExportTarget) -> ExportState | None:
    """Return the progress, locked; None if the exporter was deleted meanwhile."""
    return await target.database(unit).lock(type(target.state), target.exporter_id)


async def _save_progress(unit: Context, target: ExportTarget, state: ExportState) -> None:
    values = {f"new_{name}": getattr(state, name) for name in PROGRESS_COLUMNS}
    await target.database(unit).execute(_SAVE_PROGRESS[type(state)], record_id=target.exporter_id, **values)
