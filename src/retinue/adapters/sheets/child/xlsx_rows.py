"""XLSX: the first sheet of a workbook; the first row names the cells, formulas are what they last were."""

import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from .refusals import Refusal
from .workbook import Workbook
from .xml_events import Listener, events

_MOST_CELLS = 1000
_LONGEST_TEXT = 1_000_000
_SECONDS = 86_400


def read() -> Iterator[Any]:
    try:
        workbook = Workbook()
        told = _rows(workbook)
        header = next((row for row in told if _has_any(row)), None)
        if header is None:
            raise Refusal("parse_error", "The first sheet is empty.")
        yield ["" if name is None else str(name) for name in header]
        for row in told:
            if _has_any(row):
                yield row
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, OSError):
        raise Refusal("parse_error", "The file is not an Excel workbook, or it is damaged.") from None


def _has_any(row: list[Any]) -> bool:
    return any(cell is not None and cell != "" for cell in row)


def _rows(workbook: Workbook) -> Iterator[list[Any]]:
    sheet = _Sheet(workbook)
    with workbook.sheet() as file:
        for _ in events(file, sheet):
            ready, sheet.ready = sheet.ready, []
            yield from ready


class _Sheet(Listener):
    """Puts the cells of a row where their letters say."""

    def __init__(self, workbook: Workbook) -> None:
        self._workbook = workbook
        self.ready: list[list[Any]] = []
        self._row: list[Any] = []
        self._column = -1
        self._type = ""
        self._style = 0
        self._text: list[str] = []
        self._length = 0
        self._is_reading = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._row, self._column = [], -1
        elif name == "c":
            place = attributes.get("r")
            self._column = _column(place) if place else self._column + 1
            if not 0 <= self._column < _MOST_CELLS:
                raise Refusal("too_large", f"The sheet has more than {_MOST_CELLS} columns.")
            self._type = attributes.get("t", "n")
            style = attributes.get("s", "0")
            self._style = int(style) if style.isdecimal() and len(style) < 7 else 0
            self._text, self._length = [], 0
        elif name in {"v", "t"}:
            self._is_reading = True

    def end(self, name: str) -> None:
        if name in {"v", "t"}:
            self._is_reading = False
        elif name == "c":
            self._row += [None] * (self._column + 1 - len(self._row))
            self._row[self._column] = self._value("".join(self._text))
        elif name == "row":
            self.ready.append(self._row)

    def text(self, data: str) -> None:
        if self._is_reading:
            self._length += len(data)
            if self._length > _LONGEST_TEXT:
                raise Refusal("too_large", f"A cell has more than {_LONGEST_TEXT:,} characters.")
            self._text.append(data)

    def _value(self, text: str) -> Any:
        if self._type == "s":
            number = int(text) if text.isdecimal() and len(text) < 10 else -1
            return self._workbook.string(number)
        if self._type in {"inlineStr", "str", "d"}:
            return text
        if not text or self._type == "e":
            return None
        if self._type == "b":
            return text == "1"
        return self._number(text)

    def _number(self, text: str) -> Any:
        try:
            number = float(text)
        except ValueError:
            return text
        if self._workbook.is_date(self._style):
            return _moment(number, is_1904=self._workbook.is_1904) or text
        if number.is_integer() and abs(number) < 2**53:
            return int(number)
        # What no JSON can say is told as the text it was.
        return number if abs(number) < float("inf") else text


def _column(place: str) -> int:
    number = 0
    for letter in place:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
        if number > 20_000:
            break
    return number - 1


def _moment(days: float, *, is_1904: bool) -> str | None:
    """A day, a moment, or a time of day; to the second, for the fraction is never exact."""
    try:
        start = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet has no zone
        at = start + timedelta(seconds=round(days * _SECONDS))
    except (OverflowError, ValueError):
        return None
    if 0 <= days < 1:
        return at.time().isoformat()
    return at.date().isoformat() if (at.hour, at.minute, at.second) == (0, 0, 0) else at.isoformat()
