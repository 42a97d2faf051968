"""CSV: every row repeats its column names, so that it makes sense on its own."""

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import TextIO

from .normalization import normalize_line, normalize_text
from .sections import DocumentNotes, DocumentRefused, Section

_MAX_COLUMNS = 1000
_MAX_CELL_LENGTH = 20_000
_MAX_FIELD_LENGTH = 1_000_000
_MAX_NAME_LENGTH = 100
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES, _SAMPLE_WIDTH = 50, 20_000
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*$", re.IGNORECASE)

Row = list[str]


def read(stream: TextIO, notes: DocumentNotes, size: int) -> Iterator[Section]:
    """Yield sections of whole rows, as many as fit into one piece."""
    csv.field_size_limit(_MAX_FIELD_LENGTH)
    rows = _rows(stream)
    header = next(rows, [])
    names = _column_names(header)
    row_texts: list[str] = []
    length = 0
    is_header_only = True
    for row in rows:
        is_header_only = False
        text = _format_row(names, row, notes)
        if length + len(text) > size and row_texts:
            yield _section(row_texts, size)
            row_texts, length = [], 0
        if text:
            row_texts.append(text)
            length += len(text) + 2
    if is_header_only:
        row_texts = [_format_row([], header, notes)]
    yield _section(row_texts, size)


def _section(rows: list[str], size: int) -> Section:
    text = "\n\n".join(rows)
    # A row that will be split keeps its first cell as the heading of all parts.
    heading = text.partition("\n")[0] if len(rows) == 1 and len(text) > size else None
    return Section(text, heading=heading if heading and len(heading) <= 2 * _MAX_NAME_LENGTH else None)


def _rows(stream: TextIO) -> Iterator[Row]:
    sample = list(islice(stream, _SAMPLE_LINES))
    separator_line = _SEPARATOR_LINE.match(sample[0]) if sample else None
    delimiter = separator_line[1] if separator_line else _detect_delimiter(sample)
    lines = chain(sample[1:] if separator_line else sample, stream)
    reader = csv.reader((line.replace("\0", "") for line in lines), delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise DocumentRefused(
                "too_large",
                f"A cell that ends near line {reader.line_num} has more than {_MAX_FIELD_LENGTH:,} "
                "characters. Check for a quotation mark that is never closed.",
            ) from None
        if any(row):
            yield row


def _detect_delimiter(sample: list[str]) -> str:
    """Return the delimiter that splits the first rows most consistently into the most columns."""
    short = [line[:_SAMPLE_WIDTH].replace("\0", "") for line in sample]

    def score(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(short, delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0, 0)

    return max(_DELIMITERS, key=score)


def _column_names(header: Row) -> list[str]:
    names = header[:_MAX_COLUMNS]
    return [normalize_line(name)[:_MAX_NAME_LENGTH] or f"column {at}" for at, name in enumerate(names, 1)]


def _format_row(names: list[str], row: Row, notes: DocumentNotes) -> str:
    if len(row) > _MAX_COLUMNS and any(row[_MAX_COLUMNS:]):
        notes.is_truncated = True
    lines = []
    for at, cell in enumerate(row[:_MAX_COLUMNS]):
        if len(cell) > _MAX_CELL_LENGTH:
            notes.is_truncated = True
        value = normalize_text(cell[:_MAX_CELL_LENGTH]).strip()
        if value:
            lines.append(f"{names[at] if at < len(names) else f'column {at + 1}'}: {value}")
    return "\n".join(lines)
