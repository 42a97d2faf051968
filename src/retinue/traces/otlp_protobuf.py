"""OTLP as protobuf. Its classes are imported with the first batch, because most instances export nothing."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from retinue import __version__
from retinue.kit.tracing import names
from retinue.traces.otlp import SCOPE, OutgoingSpan, fits_integer, to_text


@functools.cache
def _messages() -> Any:
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

    return trace_service_pb2


def encode_protobuf(resource: Mapping[str, str], spans: Sequence[OutgoingSpan]) -> bytes:
    """Return an `ExportTraceServiceRequest`."""
    request = _messages().ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    _fill_attributes(resource_spans.resource.attributes, resource)
    scope_spans = resource_spans.scope_spans.add(schema_url=names.SCHEMA_URL)
    scope_spans.scope.name, scope_spans.scope.version = SCOPE, __version__
    add = scope_spans.spans.add
    for outgoing in spans:
        _fill_span(add, outgoing)
    encoded: bytes = request.SerializeToString()
    return encoded


def rejected_span_count(body: bytes) -> int:
    """Return how many spans an `ExportTraceServiceResponse` rejects; 0 if it cannot be read."""
    from google.protobuf.message import DecodeError

    try:
        answer = _messages().ExportTraceServiceResponse.FromString(body)
    except DecodeError:
        return 0
    return int(answer.partial_success.rejected_spans)


def _fill_span(add: Any, outgoing: OutgoingSpan) -> None:
    stored = outgoing.span
    span = add(
        trace_id=bytes.fromhex(outgoing.trace_id),
        span_id=bytes.fromhex(stored.span_id),
        name=stored.name,
        kind=outgoing.kind,
        start_time_unix_nano=stored.started_ns,
        end_time_unix_nano=outgoing.end_ns,
    )
    if stored.parent_span_id is not None:
        span.parent_span_id = bytes.fromhex(stored.parent_span_id)
    code, message = outgoing.status
    span.status.code = code
    if message:
        span.status.message = message
    _fill_attributes(span.attributes, outgoing.attributes())
    for event in stored.events:
        made = span.events.add(time_unix_nano=event.time_ns, name=event.name)
        _fill_attributes(made.attributes, event.attributes)
    for link in stored.links:
        span.links.add(trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id))


def _fill_attributes(target: Any, attributes: Mapping[str, Any]) -> None:
    add = target.add
    for name, value in attributes.items():
        if value is not None:
            _fill_value(add(key=name).value, value)


def _fill_value(target: Any, value: object) -> None:
    if isinstance(value, str):
        target.string_value = value
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int) and fits_integer(value):
        target.int_value = value
    elif isinstance(value, float):
        target.double_value = value
    elif isinstance(value, list | tuple):
        target.array_value.SetInParent()
        for item in value:
            _fill_value(target.array_value.values.add(), item)
    else:
        target.string_value = to_text(value)
