"""A span as it is stored."""

from typing import Any, Literal

import msgspec

from retinue.kit.tracing.names import SpanKind

SpanStatus = Literal["ok", "error"]


class SpanError(msgspec.Struct, frozen=True):
    code: str
    message: str


class SpanEvent(msgspec.Struct, frozen=True):
    name: str
    time_ns: int
    attributes: dict[str, Any]


class SpanLink(msgspec.Struct, frozen=True):
    """A span of another trace that this one has to do with."""

    trace_id: str
    span_id: str


class Span(msgspec.Struct, omit_defaults=True):
    """One step of a unit of work; times are nanoseconds, `started_ns` since 1970."""

    span_id: str
    parent_span_id: str | None
    name: str
    kind: SpanKind
    started_ns: int
    duration_ns: int = 0
    error: SpanError | None = None
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    events: list[SpanEvent] = msgspec.field(default_factory=list)
    links: list[SpanLink] = msgspec.field(default_factory=list)
    message_id: str | None = None
    execution_id: str | None = None
    delivery_id: str | None = None

    @property
    def status(self) -> SpanStatus:
        return "error" if self.error is not None else "ok"
