"""Trace exporters. The values of their headers are entered, not in the file."""

from retinue.kit.context import Context
from retinue.kit.db.errors import RecordGone
from retinue.kit.json_types import JsonObject
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import TraceExporterPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import (
    FileSection,
    fill_part,
    load_all,
    masked_headers,
    own_name,
    shown_name,
    wanted_name,
)
from retinue.traces import exporters
from retinue.traces.models import TraceExporter
from retinue.traces.schemas import TraceExporterCreate, TraceExporterUpdate


async def _export(_ctx: Context, names: ReferenceIndex, exporter: TraceExporter) -> TraceExporterPart:
    headers = sorted(exporter.headers)
    part: TraceExporterPart = fill_part(
        TraceExporterPart,
        exporter,
        name=shown_name(names, exporter),
        headers=headers,
        own_secrets=bool(headers),
    )
    return part


def _fields(change: PlannedChange) -> JsonObject:
    part = change.part
    fields = {
        name: getattr(part, name) for name in TraceExporterCreate.__struct_fields__ if name != "headers"
    }
    return {**fields, "name": wanted_name(change)}


async def _create(ctx: Context, _names: ReferenceIndex, change: PlannedChange) -> TraceExporter:
    fields = {**_fields(change), "headers": masked_headers(change.part.headers, ())}
    created = await exporters.create(ctx, convert_values(TraceExporterCreate, fields))
    stored = await ctx.db.get(TraceExporter, created.id)
    if stored is None:
        raise RecordGone
    return stored


async def _update(
    ctx: Context, _names: ReferenceIndex, change: PlannedChange, exporter: TraceExporter
) -> None:
    fields = _fields(change)
    if sorted(change.part.headers) != sorted(exporter.headers):
        fields["headers"] = masked_headers(change.part.headers, exporter.headers)
    await exporters.update(ctx, exporter, convert_values(TraceExporterUpdate, fields))


SECTION = FileSection(
    name="trace_exporters",
    write_key="traces:write",
    load=load_all(TraceExporter),
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=exporters.delete,
    secrets_note="the values of its headers",
)
