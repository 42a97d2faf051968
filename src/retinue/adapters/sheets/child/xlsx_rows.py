"""XLSX: the first sheet of a workbook; the first row is the header, formulas have their last values."""

import codecs
import io
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum

from . import workbook
from .errors import SheetRefused
from .place import PLACE

_MAX_CELLS = 1000
_MAX_TEXT_LENGTH = 1_000_000

# Names in an archive may use this codec; after the lockdown it could not be loaded.
codecs.lookup("cp437")


def read() -> Iterator[Any]:
    content = sys.stdin.buffer.read()
    workbook.check(content)
    try:
        sheet = _first_sheet(CalamineWorkbook.from_filelike(io.BytesIO(content)))
    except PasswordError:
        raise SheetRefused(
            "parse_error", "The workbook is password-protected. Send it without a password."
        ) from None
    except (CalamineError, OSError, ValueError):
        raise SheetRefused("parse_error", workbook.DAMAGED) from None
    if sheet.total_width > _MAX_CELLS:
        raise SheetRefused("too_large", f"The sheet has more than {_MAX_CELLS} columns.")
    rows = (row for row in _rows(sheet) if any(cell is not None for cell in row))
    header = next(rows, None)
    if header is None:
        raise SheetRefused("parse_error", "The first sheet is empty.")
    yield ["" if name is None else str(name) for name in header]
    yield from rows


def _first_sheet(book: CalamineWorkbook) -> CalamineSheet:
    for sheet in book.sheets_metadata:
        if sheet.typ == SheetTypeEnum.WorkSheet:
            return book.get_sheet_by_name(sheet.name)
    raise SheetRefused("parse_error", "The workbook has no sheet.")


def _rows(sheet: CalamineSheet) -> Iterator[list[Any]]:
    for number, row in enumerate(sheet.iter_rows(), 1):
        PLACE.line = number
        yield [_value(cell) for cell in row]


def _value(cell: object) -> Any:
    """Convert a cell to a JSON value."""
    convert = _CONVERSIONS.get(type(cell))
    return convert(cell) if convert else cell


def _text(cell: str) -> str | None:
    if len(cell) > _MAX_TEXT_LENGTH:
        raise SheetRefused("too_large", f"A cell has more than {_MAX_TEXT_LENGTH:,} characters.")
    return cell or None


def _number(cell: float) -> float | str:
    if cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    # JSON has no infinity, so it becomes text.
    return cell if abs(cell) < float("inf") else str(cell)


def _time(cell: time) -> str:
    return cell.isoformat(_precision(cell.microsecond))


def _date_or_moment(moment: datetime) -> str:
    if moment.time() == time():
        return moment.date().isoformat()
    return moment.isoformat(timespec=_precision(moment.microsecond))


def _precision(microseconds: int) -> str:
    return "milliseconds" if microseconds else "seconds"


def _duration(duration: timedelta) -> str:
    """Format a duration as spreadsheets do: 36:00:00 for a day and a half."""
    milliseconds = round(abs(duration) / timedelta(milliseconds=1))
    seconds, rest = divmod(milliseconds, 1000)
    sign = "-" if duration < timedelta() else ""
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{rest:03}" if rest else text


_CONVERSIONS: dict[type, Callable[[Any], Any]] = {
    str: _text,
    float: _number,
    datetime: _date_or_moment,
    date: date.isoformat,
    time: _time,
    timedelta: _duration,
}
