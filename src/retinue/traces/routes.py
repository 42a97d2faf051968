from typing import Annotated

from retinue.credentials.errors import DestinationChanged
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.lists import Page, PageQuery
from retinue.traces import exporters, service
from retinue.traces.errors import TooManyTraceExporters, TraceExporterNotFound, TraceNotFound
from retinue.traces.models import TraceExporter
from retinue.traces.schemas import (
    OtlpDocument,
    TraceDetail,
    TraceExporterCreate,
    TraceExporterOut,
    TraceExporterTest,
    TraceExporterUpdate,
    TraceList,
    TraceOut,
)

routes = Routes("/api/v1/traces", tag="traces")
exporter_routes = Routes("/api/v1/trace-exporters", tag="traces")

ExporterById = Annotated[TraceExporter, path_loader(TraceExporter, "exporter_id", TraceExporterNotFound)]


@routes.get("", requires="traces:read")
async def list_traces(ctx: Context, query: TraceList) -> Page[TraceOut]:
    """List the tenant's traces, newest first.

    Without a filter there is one entry for each trace: the work that began it. With a filter there is an
    entry for each unit of work that matches, so a trace may occur more than once.
    """
    return await service.page(ctx, query)


@routes.get("/{trace_id}", requires="traces:read", errors=(TraceNotFound,))
async def get_trace(ctx: Context, trace_id: str) -> TraceDetail:
    """Return a trace with the spans of all its parts, in the order of their start."""
    return await service.get(ctx, trace_id)


@routes.get("/{trace_id}/otlp", requires="traces:read", errors=(TraceNotFound,))
async def get_trace_otlp(ctx: Context, trace_id: str) -> OtlpDocument:
    """Return a trace in the JSON form of OpenTelemetry, to load it into another program."""
    return await service.get_otlp(ctx, trace_id)


@exporter_routes.get("", requires="traces:read")
async def list_trace_exporters(ctx: Context, query: PageQuery) -> Page[TraceExporterOut]:
    """List the receivers of traces, with what each of them got."""
    return await exporters.page(ctx, query)


@exporter_routes.post("", requires="traces:write", status=201, errors=(TooManyTraceExporters, VaultSealed))
async def create_trace_exporter(ctx: Context, body: TraceExporterCreate) -> TraceExporterOut:
    """Send the tenant's traces to an OTLP/HTTP receiver, from now on and at least once.

    Spans are posted to `<endpoint>/v1/traces` in batches. A receiver that fails gets them again for 15
    minutes; then they are counted in `dropped_spans`. A tenant has at most 3 exporters.
    """
    return await exporters.create(ctx, body)


@exporter_routes.get("/{exporter_id}", requires="traces:read")
async def get_trace_exporter(ctx: Context, exporter: ExporterById) -> TraceExporterOut:  # noqa: ARG001  every handler takes it
    """Return one receiver of traces."""
    return exporters.render_exporter(exporter)


@exporter_routes.patch("/{exporter_id}", requires="traces:write", errors=(DestinationChanged, VaultSealed))
async def update_trace_exporter(
    ctx: Context, exporter: ExporterById, body: TraceExporterUpdate
) -> TraceExporterOut:
    """Change the given properties of an exporter; what waits for it is sent at once.

    Headers belong to the server that they were entered for. An endpoint on another server needs them again;
    otherwise the answer is 409 `destination_changed`.
    """
    return await exporters.update(ctx, exporter, body)


@exporter_routes.delete("/{exporter_id}", requires="traces:write", status=204)
async def delete_trace_exporter(ctx: Context, exporter: ExporterById) -> None:
    """Delete an exporter; its receiver gets nothing more."""
    await exporters.delete(ctx, exporter)


@exporter_routes.post(
    "/{exporter_id}/test",
    requires="traces:write",
    cost="execute",
    calls_out=True,
    idempotent=False,
    errors=(VaultSealed,),
)
async def test_trace_exporter(ctx: Context, exporter: ExporterById) -> TraceExporterTest:
    """Post one span named `retinue.test` and report what the receiver answers."""
    return await exporters.test(ctx, exporter)
