"""Management of trace exporters: receivers that get the tenant's spans."""

import msgspec

from retinue.credentials.errors import DestinationChanged
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers, read_destination
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Page, PageQuery
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.header_masks import MASK, mask_headers, require_entered, unmask_headers
from retinue.kit.tracing import names
from retinue.kit.tracing.origin import new_span_id, new_trace_id
from retinue.kit.tracing.spans import Span
from retinue.traces.directory import ExporterDirectory
from retinue.traces.errors import TooManyTraceExporters
from retinue.traces.events import TraceExporterCreated, TraceExporterDeleted, TraceExporterUpdated
from retinue.traces.models import TraceExporter
from retinue.traces.otlp import OutgoingSpan
from retinue.traces.receiver import OtlpReceiver, post_spans
from retinue.traces.schemas import (
    ExporterStatus,
    TraceExporterCreate,
    TraceExporterOut,
    TraceExporterTest,
    TraceExporterUpdate,
)

MAX_EXPORTERS = 3
TEST_SPAN = "retinue.test"

_LISTING = Listing(TraceExporter)
_decode_headers = msgspec.json.Decoder(dict[str, str]).decode


async def page(ctx: Context, query: PageQuery) -> Page[TraceExporterOut]:
    return (await _LISTING.page(ctx.db, query)).to_page(render_exporter)


def render_exporter(exporter: TraceExporter) -> TraceExporterOut:
    return TraceExporterOut.of(exporter, status=_status(exporter))


def _status(exporter: TraceExporter) -> ExporterStatus:
    if not exporter.enabled:
        return "disabled"
    if exporter.last_error is not None:
        return "failing"
    return "waiting" if exporter.last_sent_at is None else "healthy"


async def create(ctx: Context, body: TraceExporterCreate) -> TraceExporterOut:
    if await ctx.db.count(TraceExporter) >= MAX_EXPORTERS:
        raise TooManyTraceExporters
    _check_endpoint(ctx, body.endpoint)
    exporter = await ctx.db.insert(
        TraceExporter(
            **{**msgspec.structs.asdict(body), **_header_fields(body.headers)},
            due_at=ctx.now,
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(TraceExporterCreated(exporter_id=exporter.id, endpoint=exporter.endpoint))
    ctx.after_commit(ctx.state(ExporterDirectory).refresh_everywhere)
    return render_exporter(exporter)


async def update(ctx: Context, exporter: TraceExporter, body: TraceExporterUpdate) -> TraceExporterOut:
    locked = await ctx.db.lock(TraceExporter, exporter.id) or exporter
    changes: JsonObject = sent_fields(body)
    if "endpoint" in changes:
        _check_endpoint(ctx, changes["endpoint"])
    headers = changes.pop("headers", None)
    known = read_headers(ctx, locked)
    is_same_server = _origin(changes.get("endpoint", locked.endpoint)) == _origin(locked.endpoint)
    if not is_same_server and known and (headers is None or MASK in headers.values()):
        raise DestinationChanged
    if headers is not None:
        changes |= _header_fields(unmask_headers(headers, known))
    changed = sorted(name for name in changes if name != "header_values")
    if changed:
        # A changed exporter is tried again at once.
        await ctx.db.update(
            locked, **changes, due_at=ctx.now, failure_count=0, failing_since=None, last_error=None
        )
        ctx.emit(TraceExporterUpdated(exporter_id=locked.id, changed=changed))
        ctx.after_commit(ctx.state(ExporterDirectory).refresh_everywhere)
    return render_exporter(locked)


async def delete(ctx: Context, exporter: TraceExporter) -> None:
    """Delete the exporter; a nightly job removes what waited for it."""
    await ctx.db.delete(exporter)
    ctx.emit(TraceExporterDeleted(exporter_id=exporter.id))
    ctx.after_commit(ctx.state(ExporterDirectory).refresh_everywhere)


async def test(ctx: Context, exporter: TraceExporter) -> TraceExporterTest:
    """Send one span and report what the receiver says."""
    span = Span(new_span_id(), None, TEST_SPAN, "job", int(ctx.clock.time() * 1e9), 1_000_000)
    span.attributes[names.TENANT_ID] = ctx.tenant_id
    answer = await post_spans(ctx, receiver_of(ctx, exporter), [OutgoingSpan(new_trace_id(), span)])
    return TraceExporterTest(
        success=answer.error is None, message=answer.error or f"The receiver accepted the span {TEST_SPAN}."
    )


def receiver_of(ctx: Context, exporter: TraceExporter) -> OtlpReceiver:
    return OtlpReceiver(
        exporter.endpoint, read_headers(ctx, exporter), exporter.encoding, ctx.adapter(Egress)
    )


def read_headers(ctx: Context, exporter: TraceExporter) -> dict[str, str]:
    values = exporter.header_values
    return {} if values is None else _decode_headers(values.open(ctx.instance.ring))


def _check_endpoint(ctx: Context, endpoint: str) -> None:
    ctx.adapter(Egress).check_field(endpoint, "endpoint")
    if "?" in endpoint or "#" in endpoint:
        raise Invalid({"endpoint": "must have no query and no fragment"})


def _header_fields(headers: dict[str, str]) -> JsonObject:
    require_entered(headers, "headers")
    try:
        check_custom_headers(headers)
    except EgressRefused as refused:
        raise Invalid({"headers": refused.message}) from None
    values = Sealed.of(msgspec.json.encode(headers)) if headers else None
    return {"headers": mask_headers(headers), "header_values": values}


def _origin(url: str) -> str:
    try:
        return read_destination(url).origin
    except EgressRefused:
        return ""
