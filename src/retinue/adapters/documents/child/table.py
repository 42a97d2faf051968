"""CSV: every row names its columns, so that it makes sense alone."""

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import TextIO

from .cleaning import clean, clean_line
from .sections import Notes, Refusal, Section

_MOST_COLUMNS = 1000
_LONGEST_CELL = 20_000
_LONGEST_READ = 1_000_000
_LONGEST_NAME = 100
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES, _SAMPLE_WIDTH = 50, 20_000
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)

Row = list[str]


def read(stream: TextIO, notes: Notes, size: int) -> Iterator[Section]:
    """Sections of whole rows, as many as fit into one piece."""
    csv.field_size_limit(_LONGEST_READ)
    rows = _rows(stream)
    header = next(rows, [])
    names = _names(header)
    gathered: list[str] = []
    length = 0
    is_alone = True
    for row in rows:
        is_alone = False
        text = _named(names, row, notes)
        if length + len(text) > size and gathered:
            yield _section(gathered, size)
            gathered, length = [], 0
        if text:
            gathered.append(text)
            length += len(text) + 2
    if is_alone:
        gathered = [_named([], header, notes)]
    yield _section(gathered, size)


def _section(rows: list[str], size: int) -> Section:
    text = "\n\n".join(rows)
    # A row that will be cut keeps its first cell as the heading of all its parts.
    heading = text.partition("\n")[0] if len(rows) == 1 and len(text) > size else None
    return Section(text, heading=heading if heading and len(heading) <= 2 * _LONGEST_NAME else None)


def _rows(stream: TextIO) -> Iterator[Row]:
    sample = list(islice(stream, _SAMPLE_LINES))
    said = _SEPARATOR_LINE.match(sample[0]) if sample else None
    delimiter = said[1] if said else _delimiter(sample)
    lines = chain(sample[1:] if said else sample, stream)
    reader = csv.reader((line.replace("\0", "") for line in lines), delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise Refusal(
                "too_large",
                f"A cell that ends near line {reader.line_num} has more than {_LONGEST_READ:,} characters; "
                "a quotation mark that is never closed can be the cause.",
            ) from None
        if any(row):
            yield row


def _delimiter(sample: list[str]) -> str:
    """The one that cuts the first rows into the same number of columns, the more the better."""
    short = [line[:_SAMPLE_WIDTH].replace("\0", "") for line in sample]

    def score(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(short, delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0, 0)

    return max(_DELIMITERS, key=score)


def _names(header: Row) -> list[str]:
    shown = header[:_MOST_COLUMNS]
    return [clean_line(name)[:_LONGEST_NAME] or f"column {at}" for at, name in enumerate(shown, 1)]


def _named(names: list[str], row: Row, notes: Notes) -> str:
    if len(row) > _MOST_COLUMNS and any(row[_MOST_COLUMNS:]):
        notes.is_truncated = True
    lines = []
    for at, cell in enumerate(row[:_MOST_COLUMNS]):
        if len(cell) > _LONGEST_CELL:
            notes.is_truncated = True
        value = clean(cell[:_LONGEST_CELL]).strip()
        if value:
            lines.append(f"{names[at] if at < len(names) else f'column {at + 1}'}: {value}")
    return "\n".join(lines)
