"""CSV: the first row is the header; commas, semicolons, tabs and bars are detected as delimiters."""

import csv
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from . import text_input
from .errors import SheetRefused
from .place import PLACE

_MAX_CELLS = 1000
_MAX_CELL_LENGTH = 1_000_000
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES, _SAMPLE_WIDTH = 50, 20_000


def read() -> Iterator[Any]:
    csv.field_size_limit(_MAX_CELL_LENGTH)
    stream = text_input.open_text(may_guess=True)
    sample = list(islice(_lines(stream), _SAMPLE_LINES))
    reader = csv.reader(chain(sample, _lines(stream)), delimiter=_detect_delimiter(sample))
    try:
        header = next((row for row in reader if any(row)), None)
        if header is None:
            raise SheetRefused("parse_error", "The file is empty.")
        if len(header) > _MAX_CELLS:
            raise SheetRefused("too_large", f"The file has more than {_MAX_CELLS} columns.")
        yield header
        begins_at = reader.line_num + 1
        for row in reader:
            PLACE.line, begins_at = begins_at, reader.line_num + 1
            if any(row):
                if len(row) > _MAX_CELLS:
                    raise SheetRefused(
                        "too_large", f"Line {reader.line_num} has more than {_MAX_CELLS} cells."
                    )
                yield row
    except csv.Error:
        raise SheetRefused(
            "too_large",
            f"A cell that ends near line {reader.line_num} has more than {_MAX_CELL_LENGTH:,} characters; "
            "check for a quotation mark that is never closed.",
        ) from None


def _lines(stream: Any) -> Iterator[str]:
    """Yield lines of bounded length; a longer one comes in parts, which the reader joins or rejects."""
    while line := stream.readline(_MAX_CELL_LENGTH * 2):
        yield line


def _detect_delimiter(sample: list[str]) -> str:
    """Return the delimiter that splits the first rows most consistently into the most cells."""
    short = [line[:_SAMPLE_WIDTH] for line in sample]

    def score(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(short, delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0, 0)

    return max(_DELIMITERS, key=score)
