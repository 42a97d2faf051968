"""Traces as the API shows them."""

from retinue.kit.context import Context
from retinue.kit.lists import Page
from retinue.kit.tracing.models import TracePart
from retinue.traces import queries
from retinue.traces.assembly import merge_spans, show_trace
from retinue.traces.errors import TraceNotFound
from retinue.traces.otlp import OutgoingSpan, resource_attributes, to_json_document
from retinue.traces.schemas import OtlpDocument, TraceDetail, TraceList, TraceOut


async def page(ctx: Context, query: TraceList) -> Page[TraceOut]:
    return (await queries.page(ctx, query)).to_page(TraceOut.from_record)


async def get(ctx: Context, trace_id: str) -> TraceDetail:
    return show_trace(await _require_parts(ctx, trace_id))


async def get_otlp(ctx: Context, trace_id: str) -> OtlpDocument:
    spans = [OutgoingSpan(trace_id, span) for span in merge_spans(await _require_parts(ctx, trace_id))]
    return OtlpDocument(resource_spans=to_json_document(resource_attributes(ctx.settings), spans))


async def _require_parts(ctx: Context, trace_id: str) -> list[TracePart]:
    parts = await queries.parts_of_trace(ctx, trace_id)
    if not parts:
        raise TraceNotFound
    return parts
