"""The trace that a request or job belongs to, and `traceparent`, the header that carries it (W3C)."""

import os
import random
import re
import secrets

from retinue.kit.clock import system_ticks
from retinue.kit.ids import id_of_number, number_of

TRACEPARENT_HEADER = b"traceparent"
CORRELATION_PREFIX = "cor"

_SECOND_NS = 1_000_000_000
_128_BITS = (1 << 128) - 1
_TRACE_ID = re.compile(r"[0-9a-f]{32}")

# Version 00 only, lower case, neither id all zeros.
_TRACEPARENT = re.compile(rb"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
_span_ids = random.Random(secrets.randbits(64))  # noqa: S311  a span id is no secret
# A forked child must not hand out the same ids.
os.register_at_fork(after_in_child=lambda: _span_ids.seed(secrets.randbits(64)))


def new_trace_id() -> str:
    """Return an id that begins with the time, so that the index of stored traces grows at its end.

    The last eleven bytes are random; the specification asks for seven.
    """
    return f"{system_ticks(_SECOND_NS) & 0xFF_FFFF_FFFF:010x}{secrets.token_hex(11)}"


def trace_id_of(id: str) -> str:
    """Return the id of the trace that a request with this id begins; they are the same number.

    Time-ordered ids have two bits more, which are zero until the year 2106.
    """
    return f"{number_of(id) & _128_BITS:032x}"


def correlation_id_of(trace_id: str) -> str:
    """Return the correlation id of the request that began the trace, if its caller sent none."""
    return id_of_number(CORRELATION_PREFIX, int(trace_id, 16)) if _TRACE_ID.fullmatch(trace_id) else ""


def new_span_id() -> str:
    return f"{_span_ids.getrandbits(64) or 1:016x}"


class TraceOrigin:
    """The trace of a request or job, shared by all of its contexts.

    The id is chosen when something first needs it: most requests never do. It is the
    number of the request's id, if a request begins the trace. `span_id` is the span that caused the work;
    it is empty for work that begins a trace. `link` is a `trace-span` pair that an untrusted caller
    sent: it is shown beside the trace and joins nothing. `is_remote` says that the span is the
    caller's own, `is_interrupted` that a worker died over an earlier attempt.
    """

    __slots__ = ("_request_id", "_trace_id", "is_interrupted", "is_remote", "link", "span_id")

    def __init__(self, trace_id: str = "", span_id: str = "", link: str = "", request_id: str = "") -> None:
        self._trace_id = trace_id
        self._request_id = request_id
        self.span_id = span_id
        self.link = link
        self.is_remote = False
        self.is_interrupted = False

    @classmethod
    def of_parent(cls, trace_parent: str, *, is_interrupted: bool = False) -> "TraceOrigin":
        """Return the origin of a job from the `trace-span` pair that was stored with it."""
        trace_id, _, span_id = trace_parent.partition("-")
        origin = cls(trace_id, span_id)
        origin.is_interrupted = is_interrupted
        return origin

    @classmethod
    def of_header(cls, header: bytes | None, *, is_trusted: bool, request_id: str) -> "TraceOrigin":
        """Return the origin of a request; only a trusted caller continues the caller's own trace."""
        match = _TRACEPARENT.fullmatch(header) if header is not None else None
        if match is None:
            return cls(request_id=request_id)
        trace_id, span_id = match[1].decode(), match[2].decode()
        if not is_trusted:
            return cls(link=f"{trace_id}-{span_id}", request_id=request_id)
        origin = cls(trace_id, span_id)
        origin.is_remote = True
        return origin

    @property
    def trace_id(self) -> str:
        if not self._trace_id:
            self._trace_id = trace_id_of(self._request_id) if self._request_id else new_trace_id()
        return self._trace_id

    def response_header(self) -> bytes:
        """Return the value of `Traceresponse`: the trace that the request began or continued."""
        # A trace that began here has several first spans, or none yet: half of its own id stands for them.
        return format_traceparent(self._trace_id, self.span_id or self._trace_id[16:]).encode()

    @property
    def has_begun(self) -> bool:
        return bool(self._trace_id)

    @property
    def parent(self) -> str:
        """The `trace-span` pair to store with work that this one causes."""
        return f"{self.trace_id}-{self.span_id}" if self.span_id else self.trace_id


def format_traceparent(trace_id: str, span_id: str) -> str:
    return f"00-{trace_id}-{span_id}-01"
