"""OTLP, the wire format of OpenTelemetry: spans as JSON or protobuf."""

import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from retinue import __version__
from retinue.kit.json_types import JsonObject
from retinue.kit.settings import Settings
from retinue.kit.tracing import names
from retinue.kit.tracing.spans import Span

SCOPE: Final = "retinue"
_INTERNAL, _CLIENT = 1, 3
_SPAN_KINDS = {
    "model": _CLIENT,
    "embedding": _CLIENT,
    "tool": _CLIENT,
    "delivery": _CLIENT,
    "channel": _CLIENT,
}
_OK, _ERROR = 1, 2
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1


class OutgoingSpan(msgspec.Struct, frozen=True):
    """A span to encode; `more` are attributes that are not stored with it."""

    trace_id: str
    span: Span
    more: JsonObject = {}

    @property
    def kind(self) -> int:
        return _SPAN_KINDS.get(self.span.kind, _INTERNAL)

    @property
    def end_ns(self) -> int:
        return self.span.started_ns + self.span.duration_ns

    @property
    def status(self) -> tuple[int, str]:
        """The number of the status and its message."""
        error = self.span.error
        return (_OK, "") if error is None else (_ERROR, error.message)

    def attributes(self) -> JsonObject:
        span = self.span
        added: JsonObject = {}
        if span.error is not None:
            added[names.ERROR_TYPE] = span.error.code
        if span.message_id is not None:
            added[names.MESSAGE_ID] = span.message_id
        if span.execution_id is not None:
            added[names.EXECUTION_ID] = span.execution_id
        if span.delivery_id is not None:
            added[names.DELIVERY_ID] = span.delivery_id
        return {**span.attributes, **added, **self.more}


def parse_pairs(text: str) -> dict[str, str]:
    """Parse `name=value,…` with percent-encoded values, as the variables of OpenTelemetry have it."""
    pairs = (entry.partition("=") for entry in text.split(","))
    return {name.strip(): unquote(value.strip()) for name, sign, value in pairs if sign and name.strip()}


def resource_attributes(settings: Settings) -> dict[str, str]:
    """Return what every exported span says about its origin; the operator's own attributes win."""
    return {
        "service.name": settings.otel_service_name,
        "service.version": __version__,
        "service.instance.id": socket.gethostname(),
        **parse_pairs(settings.otel_resource_attributes),
    }


def to_json_document(resource: Mapping[str, str], spans: Sequence[OutgoingSpan]) -> list[JsonObject]:
    """Return the `resourceSpans` of an OTLP/JSON document."""
    scope_spans = {
        "scope": {"name": SCOPE, "version": __version__},
        "spans": [_json_span(outgoing) for outgoing in spans],
        "schemaUrl": names.SCHEMA_URL,
    }
    return [{"resource": {"attributes": _json_attributes(resource)}, "scopeSpans": [scope_spans]}]


def encode_json(resource: Mapping[str, str], spans: Sequence[OutgoingSpan]) -> bytes:
    return msgspec.json.encode({"resourceSpans": to_json_document(resource, spans)})


def _json_span(outgoing: OutgoingSpan) -> JsonObject:
    span = outgoing.span
    code, message = outgoing.status
    shown: JsonObject = {
        "traceId": outgoing.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": outgoing.kind,
        "startTimeUnixNano": str(span.started_ns),
        "endTimeUnixNano": str(outgoing.end_ns),
        "attributes": _json_attributes(outgoing.attributes()),
        "status": {"code": code, "message": message} if message else {"code": code},
    }
    if span.parent_span_id is not None:
        shown["parentSpanId"] = span.parent_span_id
    if span.events:
        shown["events"] = [
            {
                "timeUnixNano": str(event.time_ns),
                "name": event.name,
                "attributes": _json_attributes(event.attributes),
            }
            for event in span.events
        ]
    if span.links:
        shown["links"] = [{"traceId": link.trace_id, "spanId": link.span_id} for link in span.links]
    return shown


def _json_attributes(attributes: Mapping[str, Any]) -> list[JsonObject]:
    return [
        {"key": name, "value": _json_value(value)} for name, value in attributes.items() if value is not None
    ]


def _json_value(value: object) -> JsonObject:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and _MIN_INTEGER <= value <= _MAX_INTEGER:
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_json_value(item) for item in value]}}
    return {"stringValue": to_text(value)}


def to_text(value: object) -> str:
    """Return a value that OTLP has no type for as text."""
    return msgspec.json.encode(value).decode()


def fits_integer(value: int) -> bool:
    return _MIN_INTEGER <= value <= _MAX_INTEGER
