"""Recording of spans while a unit of work runs.

The current span is a context variable: tasks inherit it, so that concurrent calls nest correctly. A generator
must not make its span current, because its consumer would see it: it calls `start_span` and `end`.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, Self

from retinue.kit.errors import RetinueError
from retinue.kit.logging import may_contain_secret, scrub_secrets
from retinue.kit.text.redaction import has_active_redactor, redact_for_log
from retinue.kit.tracing.names import DROPPED_SPANS, INTERRUPTED, SpanKind
from retinue.kit.tracing.origin import TraceOrigin, format_traceparent, new_span_id
from retinue.kit.tracing.spans import Span, SpanError, SpanEvent, SpanLink

MAX_SPANS = 500
MAX_ATTRIBUTES = 64
MAX_ATTRIBUTE_LENGTH = 1_024

_PROPAGATING_KINDS = frozenset({"tool", "delivery", "channel", "workflow_node"})

_current: "ContextVar[ActiveSpan | None]" = ContextVar("current_span", default=None)


class PartRecorder:
    """The spans of one unit of work; `with` makes its root span current.

    An `is_optional` part gives way to parts that start within it: a job that runs a turn is told by the turn.
    """

    __slots__ = (
        "_base_ns",
        "_token",
        "_wall_ns",
        "dropped_count",
        "exporter_ids",
        "fields",
        "has_inner_part",
        "is_optional",
        "is_stored",
        "kind",
        "origin",
        "root",
        "spans",
        "spent_before",
        "trace_id",
    )

    def __init__(
        self,
        name: str,
        kind: SpanKind,
        origin: TraceOrigin,
        *,
        wall_seconds: float,
        exporter_ids: tuple[str, ...] = (),
        is_optional: bool = False,
        fields: Mapping[str, str | None] | None = None,
    ) -> None:
        self._base_ns = time.perf_counter_ns()
        self._wall_ns = int(wall_seconds * 1_000_000_000)
        self.kind = kind
        self.origin = origin
        self.trace_id = origin.trace_id
        self.exporter_ids = exporter_ids
        self.is_optional = is_optional
        self.has_inner_part = False
        self.is_stored = False
        self.fields = dict(fields or {})
        self.spans: list[Span] = []
        self.dropped_count = 0
        self.spent_before: Any = None
        self.root = self.start(name, kind, origin.span_id or None)
        if origin.is_interrupted:
            self.root.set({INTERRUPTED: True})
        if origin.link:
            trace_id, _, span_id = origin.link.partition("-")
            self.root.span.links.append(SpanLink(trace_id, span_id))

    def start(self, name: str, kind: SpanKind, parent_span_id: str | None) -> "ActiveSpan":
        now_ns = time.perf_counter_ns()
        span = Span(new_span_id(), parent_span_id, name, kind, self._wall_ns + now_ns - self._base_ns)
        if len(self.spans) < MAX_SPANS:
            self.spans.append(span)
        else:
            self.dropped_count += 1
        return ActiveSpan(self, span, now_ns)

    def add_finished(
        self,
        name: str,
        kind: SpanKind,
        parent_span_id: str | None,
        *,
        span_id: str,
        started_at: float,
        ended_at: float,
    ) -> "ActiveSpan":
        """Add a span that began before this part; times are Unix timestamps."""
        active = self.start(name, kind, parent_span_id)
        active.span.span_id = span_id
        active.span.started_ns = int(started_at * 1e9)
        active.span.duration_ns = max(1, int((ended_at - started_at) * 1e9))
        return active

    def finish(self) -> list[Span]:
        """End the root span and return all spans, without anything that looks like a secret."""
        self.root.end()
        if self.dropped_count:
            self.root.set({DROPPED_SPANS: self.dropped_count})
        _scrub(self.spans)
        return self.spans

    def move_below(self, origin: TraceOrigin) -> None:
        """Make the part work of another trace, before anything else is recorded."""
        self.origin, self.trace_id = origin, origin.trace_id
        self.root.span.parent_span_id = origin.span_id

    def __enter__(self) -> Self:
        self._token = _current.set(self.root)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        _current.reset(self._token)
        self.root.end(error)


class ActiveSpan:
    """A span that has not ended; `with` makes it current and ends it with the error that leaves the block."""

    __slots__ = ("_started_ns", "_token", "part", "span")

    def __init__(self, part: PartRecorder, span: Span, started_ns: int) -> None:
        self.part = part
        self.span = span
        self._started_ns = started_ns
        self._token: Token[ActiveSpan | None] | None = None

    def set(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes; None means unknown and is left out."""
        kept = self.span.attributes
        is_guarded = has_active_redactor()
        for name, value in attributes.items():
            if value is not None:
                kept[name] = _guarded(value) if is_guarded and isinstance(value, str) else value

    def add_event(self, name: str, attributes: dict[str, Any]) -> None:
        elapsed_ns = time.perf_counter_ns() - self._started_ns
        self.span.events.append(SpanEvent(name, self.span.started_ns + elapsed_ns, attributes))

    def fail(self, code: str, message: str) -> None:
        self.span.error = SpanError(_guarded(code), scrub_secrets(_guarded(message)))

    def end(self, error: BaseException | None = None) -> None:
        """End the span; a second call changes nothing."""
        span = self.span
        if span.duration_ns:
            return
        span.duration_ns = max(1, time.perf_counter_ns() - self._started_ns)
        if error is not None and span.error is None:
            self.fail(*_described(error))

    @property
    def trace_parent(self) -> str:
        return f"{self.part.trace_id}-{self.span.span_id}"

    @property
    def elapsed_seconds(self) -> float:
        return (time.perf_counter_ns() - self._started_ns) / 1e9

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
        self.end(error)


def current_span() -> ActiveSpan | None:
    return _current.get()


def current_trace_id() -> str | None:
    active = _current.get()
    return None if active is None else active.part.trace_id


def current_part() -> PartRecorder | None:
    active = _current.get()
    return None if active is None else active.part


def current_trace_parent() -> str:
    """Return the `trace-span` pair of the current span; empty if nothing is recorded."""
    active = _current.get()
    if active is None:
        return ""
    part = active.part
    # Work that an optional part causes hangs on the cause of that part: the part itself may not be stored.
    return part.origin.parent if part.is_optional and active is part.root else active.trace_parent


@contextmanager
def unit_span(name: str, kind: SpanKind) -> Iterator[ActiveSpan | None]:
    """Tell about a unit of work: as the part of its job, or as a span of the work that it belongs to."""
    active = _current.get()
    if active is None:
        yield None
    elif active.part.is_optional and active is active.part.root:
        active.part.is_optional = False
        active.part.kind = active.span.kind = kind
        active.span.name = name
        yield active
    else:
        with active.part.start(name, kind, active.span.span_id) as span:
            yield span


def outgoing_traceparent(*, to_providers: bool) -> str | None:
    """Return the header for a call outside; providers of models and search get it only if wanted."""
    active = _current.get()
    if active is None or not (to_providers or active.span.kind in _PROPAGATING_KINDS):
        return None
    return format_traceparent(active.part.trace_id, active.span.span_id)


def start_span(name: str, kind: SpanKind) -> ActiveSpan | None:
    """Start a span below the current one; None if nothing is recorded."""
    active = _current.get()
    return None if active is None else active.part.start(name, kind, active.span.span_id)


def _guarded(text: str) -> str:
    return redact_for_log(text[:MAX_ATTRIBUTE_LENGTH])


def _described(error: BaseException) -> tuple[str, str]:
    if isinstance(error, RetinueError):
        return error.code, error.message
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return "cancelled", "The work was cancelled."
    if isinstance(error, TimeoutError):
        return "timeout", "The time limit was reached."
    # Unexpected errors may quote values, so only their class is kept.
    return "internal_error", type(error).__name__


def _scrub(spans: list[Span]) -> None:
    """Bound the attributes and mask what looks like a secret.

    One look at all texts together is enough for nearly every part.
    """
    texts = [span.name for span in spans]
    attribute_count = 0
    for span in spans:
        attribute_count = max(attribute_count, len(span.attributes))
        texts += [value for value in span.attributes.values() if type(value) is str]
    everything = "\n".join(texts)
    is_small = attribute_count <= MAX_ATTRIBUTES and len(everything) <= MAX_ATTRIBUTE_LENGTH
    if is_small and not may_contain_secret(everything):
        return
    for span in spans:
        span.name = scrub_secrets(span.name[:MAX_ATTRIBUTE_LENGTH])
        kept = list(span.attributes.items())[:MAX_ATTRIBUTES]
        span.attributes = {
            name: scrub_secrets(value[:MAX_ATTRIBUTE_LENGTH]) if isinstance(value, str) else value
            for name, value in kept
        }
