"""Traces: what a unit of work did, as spans, stored as one row in the transaction that ends it (ADR 28)."""

from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.recorder import (
    ActiveSpan,
    PartRecorder,
    current_part,
    current_trace_parent,
    start_span,
)
from retinue.kit.tracing.spans import Span, SpanLink

__all__ = [
    "ActiveSpan",
    "PartRecorder",
    "Span",
    "SpanLink",
    "TraceOrigin",
    "current_part",
    "current_trace_parent",
    "start_span",
]
