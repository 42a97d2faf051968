"""Exports of rows, streamed in batches with formulas escaped."""

import csv
import io
import re
import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape

import msgspec

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.spreadsheet_cells import escape_formula
from retinue.tables.filters import Condition
from retinue.tables.models import DataTable
from retinue.tables.queries import iterate_rows
from retinue.tables.storage import Layout

MIME_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_SHEET_ROWS = 1_048_575

Row = JsonObject


def export_table(
    ctx: Context, table: DataTable, condition: Condition, format: str, fields: Sequence[str]
) -> Callable[[], AsyncIterator[bytes]]:
    """Return the generator of the file's bytes. The context must outlive the request."""
    return export_rows(_rows(ctx, table, condition), format, fields)


def export_rows(
    batches: "AsyncIterator[list[Row]]", format: str, fields: Sequence[str]
) -> Callable[[], AsyncIterator[bytes]]:
    """Return the generator of a file with these fields, from any batches of rows."""
    make = {"csv": _csv, "json": _json, "xlsx": _xlsx}[format]
    return lambda: make(batches, fields)


async def _rows(ctx: Context, table: DataTable, condition: Condition) -> AsyncIterator[list[Row]]:
    layout = Layout(table)
    async for batch in iterate_rows(ctx, table, condition):
        yield [layout.show(row) for row in batch]


def _cell(value: object) -> Any:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return escape_formula(msgspec.json.encode(value).decode())
    return value


async def _csv(batches: AsyncIterator[list[Row]], fields: Sequence[str]) -> AsyncIterator[bytes]:
    text = io.StringIO()
    write = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n").writerow
    write(fields)
    async for batch in batches:
        for row in batch:
            write(["" if row[name] is None else _cell(row[name]) for name in fields])
        yield _drain_text(text)
    yield _drain_text(text)


def _drain_text(text: io.StringIO) -> bytes:
    content = text.getvalue().encode("utf-8", "replace")
    text.seek(0)
    text.truncate()
    return content


async def _json(batches: AsyncIterator[list[Row]], fields: Sequence[str]) -> AsyncIterator[bytes]:
    encode = msgspec.json.Encoder().encode
    before = b"[\n"
    async for batch in batches:
        lines = [encode({name: row[name] for name in fields}) for row in batch]
        yield before + b",\n".join(lines)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


class _Pipe(io.RawIOBase):
    """A write-only stream: an archive writes into it, and the bytes are drained for sending."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._buffer += data
        return len(data)

    def drain(self) -> bytes:
        content, self._buffer = bytes(self._buffer), bytearray()
        return content


async def _xlsx(batches: AsyncIterator[list[Row]], fields: Sequence[str]) -> AsyncIterator[bytes]:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, content)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(_SHEET_START)
            sheet.write(_xml_row(fields))
            left = _MAX_SHEET_ROWS
            async for batch in batches:
                sheet.write(b"".join(_xml_row([row[name] for name in fields]) for row in batch[:left]))
                left -= len(batch[:left])
                yield pipe.drain()
                if not left:
                    break
            sheet.write(b"</sheetData></worksheet>")
    yield pipe.drain()


def _xml_row(cells: Sequence[Any]) -> bytes:
    return f"<row>{''.join(map(_xml_cell, cells))}</row>".encode("utf-8", "replace")


def _xml_cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    text = escape(_NOT_XML.sub("", str(_cell(value))), {"\r": "&#13;"})
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_SHEET_START = f'{_DECLARATION}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
_PARTS = {
    "[Content_Types].xml": f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/></Types>',
    "_rels/.rels": f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'{_DECLARATION}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="Rows" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
