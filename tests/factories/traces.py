"""Parts of traces as work records them, and exporters."""

from collections.abc import Callable
from typing import Any

from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.names import SpanKind
from retinue.kit.tracing.origin import TraceOrigin, new_span_id, new_trace_id
from retinue.kit.tracing.parts import Spending, recording_part, store_part
from retinue.kit.tracing.recorder import PartRecorder, start_span
from retinue.kit.tracing.spans import Span
from retinue.traces.models import TraceExporter
from tests.factories.people import People

NO_SPENDING = Spending()


def call_model(part: PartRecorder) -> None:
    """One model call, as most turns have."""
    span = start_span("chat smollm2", "model")
    assert span is not None
    with span:
        span.set({names.OPERATION: "chat", names.REQUEST_MODEL: "smollm2", names.INPUT_TOKENS: 12})


async def record_part(
    people: People,
    tenant_id: str,
    name: str = "invoke_agent Support",
    kind: SpanKind = "turn",
    *,
    origin: TraceOrigin | None = None,
    spending: Spending = NO_SPENDING,
    work: Callable[[PartRecorder], Any] = call_model,
    **fields: str | None,
) -> PartRecorder:
    """Record and store one part; `work` does something within it."""
    async with people.context(tenant_id) as unit:
        with recording_part(unit, name, kind, origin=origin or TraceOrigin(), **fields) as part:
            assert part is not None
            work(part)
            await store_part(unit, spending)
    return part


def some_part(name: str = "invoke_agent Support", **more: Any) -> TracePart:
    """A stored part with one span."""
    span = Span(new_span_id(), None, name, "turn", 1_800_000_000_000_000_000, 1_500_000)
    given = {"trace_id": new_trace_id(), "is_first": True, "kind": "turn", "status": "ok", **more}
    return TracePart(
        name=name,
        root_span_id=span.span_id,
        started_at="2027-01-15T08:00:00.000000Z",
        duration_us=1_500,
        span_count=1,
        correlation_id="cor_part",
        spans=[span],
        **given,
    )


def some_exporter(created_by: str, name: str = "Tempo", **more: Any) -> TraceExporter:
    """Return an exporter that sends nothing."""
    given = {"endpoint": "http://127.0.0.1:9", "headers": {}, "enabled": False, **more}
    return TraceExporter(name=name, due_at="2999-01-01T00:00:00.000000Z", created_by=created_by, **given)
