"""Workbooks as spreadsheets write them: what a cell shows is what arrives in the table."""

from pathlib import Path
from typing import Any

import pytest

from retinue.adapters import sheets
from retinue.adapters.sheets import UnreadableSheet
from tests.tables.sheets import WORKBOOK, sheet, workbook

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
FORMATS = (
    "General",
    "yyyy-mm-dd",
    "[h]:mm:ss",
    "yyyy-mm-dd hh:mm:ss.000",
    "hh:mm",
    "[hh]:mm",
    "[Red]0.00",
    "&quot;day&quot; 0",
)
STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts>'
    + "".join(f'<numFmt numFmtId="{164 + at}" formatCode="{code}"/>' for at, code in enumerate(FORMATS))
    + "</numFmts><cellXfs>"
    + "".join(f'<xf numFmtId="{164 + at}"/>' for at in range(len(FORMATS)))
    + "</cellXfs></styleSheet>"
)


async def value_of(folder: Path, cell: str, *, book: str = WORKBOOK) -> Any:
    """The one value that is read from a sheet with one cell below its header."""
    rows = f'<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2">{cell}</row>'
    path = folder / "book.xlsx"
    path.write_bytes(workbook(sheet=sheet(rows), styles=STYLES, book=book))
    found = [row async for some in sheets.read(path, "xlsx") for row in some.rows]
    return found[0][0] if found else None


def number(value: float, format: str = "General") -> str:
    return f'<c r="A2" s="{FORMATS.index(format)}"><v>{value}</v></c>'


def text(value: str) -> str:
    return f'<c r="A2" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (number(45000, "yyyy-mm-dd"), "2023-03-15"),
        (number(61, "yyyy-mm-dd"), "1900-03-01"),
        (number(59, "yyyy-mm-dd"), "1900-02-28"),
        (number(1, "yyyy-mm-dd"), "1900-01-01"),
        (number(0.5, "hh:mm"), "12:00:00"),
        (number(45000.5, "hh:mm"), "2023-03-15T12:00:00"),
        (number(45000.123456, "yyyy-mm-dd hh:mm:ss.000"), "2023-03-15T02:57:46.598"),
        (number(1.5, "[h]:mm:ss"), "36:00:00"),
        (number(0.25, "[h]:mm:ss"), "06:00:00"),
        (number(3.25, "[hh]:mm"), "78:00:00"),
        (number(5), 5),
        (number(2.5), 2.5),
        (number(3, "[Red]0.00"), 3),
        (number(3, "&quot;day&quot; 0"), 3),
        (text("a_x000D_b"), "a\rb"),
        (text("_x005F_x000D_"), "_x000D_"),
        (text("_x0041_BC"), "ABC"),
        (text("_x00e9_"), "é"),
        (text("snake_x_case"), "snake_x_case"),
        ('<c r="A2" t="b"><v>1</v></c>', True),
        ('<c r="A2" t="e"><v>#DIV/0!</v></c>', None),
        ('<c r="A2" t="str"><f>A1</f><v>shown</v></c>', "shown"),
    ],
)
async def test_a_cell_is_read_as_the_spreadsheet_shows_it(tmp_path: Path, cell: str, expected: Any) -> None:
    assert await value_of(tmp_path, cell) == expected


async def test_the_other_calendar_of_excel_begins_in_1904(tmp_path: Path) -> None:
    book = WORKBOOK.replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
    assert await value_of(tmp_path, number(1, "yyyy-mm-dd"), book=book) == "1904-01-02"


async def test_an_old_or_protected_workbook_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    with pytest.raises(UnreadableSheet, match="password"):
        [some async for some in sheets.read(path, "xlsx")]


async def test_two_cells_far_apart_do_not_take_the_memory_between_them(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path.write_bytes(workbook(sheet=sheet(far)))
    with pytest.raises(sheets.SheetError):
        [some async for some in sheets.read(path, "xlsx")]
