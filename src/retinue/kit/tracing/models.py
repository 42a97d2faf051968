"""Stored parts of traces, and which of them are still to be exported."""

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.models import TenantRecord, index_present, projection, table
from retinue.kit.tracing.spans import Span

_FILTERED = ("conversation_id", "workflow_id")


def _partial_indexes(target: sa.Table) -> None:
    """Few parts have these values, so the indexes are small and cost the others nothing."""
    for name in _FILTERED:
        index_present(name, "tenant_id", name, "created_at")(target)
    index_present("error_code", "tenant_id", "created_at", "error_code")(target)


class TraceSummary(TenantRecord, kw_only=True):
    """A part without its spans: what lists show and filter.

    `is_first` marks the part that began its trace here. `created_at` decides about retention.
    """

    trace_id: str
    is_first: bool
    kind: str
    name: str
    status: str
    error_code: str | None = None
    error_message: str | None = None
    started_at: Instant
    duration_us: int
    span_count: int
    agent_id: str | None = None
    conversation_id: str | None = None
    workflow_id: str | None = None
    user_id: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    correlation_id: str


@table(
    "trace_parts",
    prefix="trp",
    time_ordered_ids=True,
    indexes=[
        ("tenant_id", "is_first", "created_at"),
        ("tenant_id", "agent_id", "created_at"),
        ("tenant_id", "trace_id", "created_at"),
        ("tenant_id", "correlation_id", "created_at"),
        # Filters without an index of their own are answered from this one.
        ("tenant_id", "created_at", "kind", "duration_us", "user_id"),
    ],
    extra=_partial_indexes,
)
class TracePart(TraceSummary, kw_only=True):
    """The spans of one unit of work."""

    root_span_id: str
    parent_span_id: str | None = None
    spans: list[Span]


projection(TracePart)(TraceSummary)


@table("trace_export_queue", prefix="trq", time_ordered_ids=True, indexes=[("exporter_id", "id")])
class QueuedTracePart(TenantRecord, kw_only=True):
    """A part that an exporter has not sent yet; the part may have been deleted since."""

    exporter_id: str
    part_id: str
