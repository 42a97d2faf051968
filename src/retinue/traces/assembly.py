"""A trace as a whole, assembled from its parts."""

from collections.abc import Iterable, Sequence

from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.row_attributes import complete_spans
from retinue.kit.tracing.spans import Span
from retinue.traces.schemas import SpanOut, TraceDetail, TraceOut, TraceUsage


def merge_spans(parts: Iterable[TracePart]) -> list[Span]:
    """Return the spans of all parts by their start; of two with the same id, the one that ended later."""
    found: dict[str, Span] = {}
    for part in parts:
        for span in complete_spans(part):
            known = found.get(span.span_id)
            if known is None or _end(known) <= _end(span):
                found[span.span_id] = span
    return sorted(found.values(), key=lambda span: span.started_ns)


def show_trace(parts: Sequence[TracePart]) -> TraceDetail:
    """Return the trace under the name of the part that began it; usage and cost are those of all parts."""
    first = next((part for part in parts if part.is_first), parts[0])
    spans = merge_spans(parts)
    started_ns = min(span.started_ns for span in spans)
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    shown = TraceOut.from_record(first)
    return TraceDetail.of(
        shown,
        started_at=min(part.started_at for part in parts),
        duration_ms=round((max(map(_end, spans)) - started_ns) / 1_000_000, 3),
        span_count=len(spans),
        usage=TraceUsage(
            input_tokens=sum(part.input_tokens for part in parts),
            output_tokens=sum(part.output_tokens for part in parts),
            cached_tokens=sum(part.cached_tokens for part in parts),
        ),
        estimated_cost_usd=sum(costs) if costs else None,
        spans=[SpanOut.from_record(span) for span in spans],
    )


def _end(span: Span) -> int:
    return span.started_ns + span.duration_ns
