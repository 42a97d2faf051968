"""Verification and export of a tenant's audit chain."""

import csv
import io
from collections.abc import AsyncIterator

import msgspec

from retinue.audit import queries
from retinue.audit.events import AuditExported
from retinue.audit.schemas import AuditExportQuery, AuditKey, AuditKeys, AuditVerdict, BrokenRow
from retinue.kit.context import Context
from retinue.kit.events import audit_export
from retinue.kit.events.audit_export import ExportWriter
from retinue.kit.events.audit_verification import verify_chain
from retinue.kit.events.models import AuditEntry
from retinue.kit.http.replies import ByteStream
from retinue.kit.spreadsheet_cells import escape_formula

_MIME_TYPES = {"jsonl": "application/x-ndjson; charset=utf-8", "csv": "text/csv; charset=utf-8"}
_COLUMNS = tuple(name for name in AuditEntry.__struct_fields__ if name not in {"tenant_id", "updated_at"})


async def verify(ctx: Context) -> AuditVerdict:
    verdict = await verify_chain(ctx.system("the tenant's own chain"), ctx.tenant_id)
    broken = None
    if not verdict.is_good:
        broken = BrokenRow(sequence=verdict.sequence, id=verdict.row_id, reason=verdict.reason)
    return AuditVerdict(
        intact=verdict.is_good, checked=verdict.checked, head=await queries.read_head(ctx), broken=broken
    )


async def export(ctx: Context, query: AuditExportQuery) -> ByteStream:
    """Return the rows of a period as a stream; that they were exported is a row of its own."""
    first, last = await queries.find_range(ctx, query.from_, query.to)
    ctx.emit(AuditExported(format=query.format, from_sequence=first, to_sequence=last))
    reader = ctx.detached()
    writer = ExportWriter(ctx.tenant_id, audit_export.signing_key(ctx.instance.ring), ctx.now)
    lines = _jsonl(reader, writer, first, last) if query.format == "jsonl" else _csv(reader, first, last)
    return ByteStream(lambda: lines, _MIME_TYPES[query.format], f"audit-{ctx.now[:10]}.{query.format}")


async def _jsonl(ctx: Context, writer: ExportWriter, first: int, last: int) -> AsyncIterator[bytes]:
    async for batch in queries.iterate_rows(ctx, first, last):
        yield b"".join(map(writer.line, batch))
    yield writer.manifest()


async def _csv(ctx: Context, first: int, last: int) -> AsyncIterator[bytes]:
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\r\n").writerow
    write(_COLUMNS)
    async for batch in queries.iterate_rows(ctx, first, last):
        for row in batch:
            write([_cell(getattr(row, name)) for name in _COLUMNS])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    if rest := text.getvalue():
        yield rest.encode()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, dict):
        return escape_formula(msgspec.json.encode(value, order="sorted").decode())
    return value


def public_keys(ctx: Context) -> AuditKeys:
    """Return the public keys of all exports of this instance, the newest last."""
    ring = ctx.instance.ring
    found = audit_export.public_keys(ring)
    return AuditKeys(keys=[AuditKey(kid=id, x=audit_export.encode_base64(key)) for id, key in found.items()])
