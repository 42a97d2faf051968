from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from retinue.kit.clock import Instant, instant_from_timestamp
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.derived import fields_of, in_changes, in_responses
from retinue.kit.schema.headers import HeaderName, HeaderValue
from retinue.kit.tracing.models import TraceSummary
from retinue.kit.tracing.names import SpanKind
from retinue.kit.tracing.spans import Span, SpanError, SpanLink, SpanStatus
from retinue.traces.models import OtlpEncoding

When = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]
Filter = Annotated[str, Meta(min_length=1, max_length=128)]
TraceSort = Literal["-started_at", "-duration_ms", "duration_ms"]


class TraceList(PageQuery, kw_only=True):
    """Without a filter, one entry for each trace; with one, an entry for each part that matches."""

    agent_id: Filter | None = None
    conversation_id: Filter | None = None
    workflow_id: Filter | None = None
    user_id: Filter | None = None
    kind: SpanKind | None = None
    status: SpanStatus | None = None
    error_code: Filter | None = None
    min_duration_ms: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    correlation_id: Filter | None = None
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None
    sort: TraceSort = "-started_at"


class SpanErrorOut(Schema, kw_only=True):
    code: str
    message: str

    @classmethod
    def from_record(cls, error: SpanError | None) -> "SpanErrorOut | None":
        return None if error is None else cls(code=error.code, message=error.message)


class TraceUsage(Schema, kw_only=True):
    input_tokens: int
    output_tokens: int
    cached_tokens: int


class TraceOut(Schema, kw_only=True):
    trace_id: str
    name: str
    kind: SpanKind
    status: SpanStatus
    error: SpanErrorOut | None
    started_at: Instant
    duration_ms: float
    span_count: int
    agent_id: str | None
    conversation_id: str | None
    workflow_id: str | None
    user_id: str | None
    usage: TraceUsage
    estimated_cost_usd: float | None
    correlation_id: str

    @classmethod
    def from_record(cls, part: TraceSummary) -> "TraceOut":
        error = None
        if part.error_code is not None:
            error = SpanErrorOut(code=part.error_code, message=part.error_message or "")
        return cls.of(
            part,
            error=error,
            duration_ms=part.duration_us / 1_000,
            usage=TraceUsage.of(part),
            estimated_cost_usd=part.cost_usd,
        )


class SpanEventOut(Schema, kw_only=True):
    name: str
    at: Instant
    attributes: JsonObject


class SpanLinkOut(Schema, kw_only=True):
    trace_id: str
    span_id: str

    @classmethod
    def from_record(cls, link: SpanLink) -> "SpanLinkOut":
        return cls(trace_id=link.trace_id, span_id=link.span_id)


class SpanOut(Schema, kw_only=True):
    span_id: str
    parent_span_id: str | None
    name: str
    kind: SpanKind
    started_at: Instant
    duration_ms: float
    status: SpanStatus
    error: SpanErrorOut | None
    attributes: JsonObject
    events: list[SpanEventOut]
    links: list[SpanLinkOut]
    message_id: str | None
    execution_id: str | None
    delivery_id: str | None

    @classmethod
    def from_record(cls, span: Span) -> "SpanOut":
        return cls.of(
            span,
            started_at=_instant(span.started_ns),
            duration_ms=round(span.duration_ns / 1_000_000, 3),
            error=SpanErrorOut.from_record(span.error),
            events=[SpanEventOut.of(event, at=_instant(event.time_ns)) for event in span.events],
            links=[SpanLinkOut.from_record(link) for link in span.links],
        )


class TraceDetail(TraceOut, kw_only=True):
    spans: list[SpanOut]


class OtlpDocument(Schema, kw_only=True):
    """A trace as OTLP/JSON."""

    resource_spans: list[JsonObject] = msgspec.field(name="resourceSpans")


def _instant(ns: int) -> Instant:
    return instant_from_timestamp(ns // 1_000 / 1_000_000)


Endpoint = Annotated[str, Meta(min_length=1, max_length=2_000)]
Headers = Annotated[dict[HeaderName, HeaderValue], Meta(max_length=20)]
Sample = Annotated[float, Meta(ge=0, le=1)]


class TraceExporterCreate(Schema, kw_only=True):
    name: Name
    endpoint: Endpoint
    headers: Headers = {}
    encoding: OtlpEncoding = OtlpEncoding.protobuf
    include_content: bool = False
    sample: Sample = 1.0
    enabled: bool = True


@fields_of(TraceExporterCreate, in_changes)
class TraceExporterUpdate(Schema, kw_only=True):
    """Headers belong to the server that they were given for: a new address needs them again."""


ExporterStatus = Literal["disabled", "waiting", "healthy", "failing"]


@fields_of(TraceExporterCreate, in_responses)
class TraceExporterSettings(Schema, kw_only=True):
    id: str


class TraceExporterOut(TraceExporterSettings, kw_only=True):
    status: ExporterStatus
    last_sent_at: Instant | None
    last_error: str | None
    sent_spans: int
    dropped_spans: int
    created_at: Instant
    updated_at: Instant


class TraceExporterTest(Schema, kw_only=True):
    success: bool
    message: str
