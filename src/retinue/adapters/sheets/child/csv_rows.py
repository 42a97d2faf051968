"""CSV: the first row names the cells; commas, semicolons, tabs and bars are all found to divide them."""

import csv
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from . import text_of_file
from .refusals import Refusal

_MOST_CELLS = 1000
_LONGEST_CELL = 1_000_000
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES, _SAMPLE_WIDTH = 50, 20_000


def read() -> Iterator[Any]:
    csv.field_size_limit(_LONGEST_CELL)
    stream = text_of_file.opened(may_guess=True)
    sample = list(islice(_lines(stream), _SAMPLE_LINES))
    reader = csv.reader(chain(sample, _lines(stream)), delimiter=_delimiter(sample))
    try:
        header = next((row for row in reader if any(row)), None)
        if header is None:
            raise Refusal("parse_error", "The file is empty.")
        if len(header) > _MOST_CELLS:
            raise Refusal("too_large", f"The file has more than {_MOST_CELLS} columns.")
        yield header
        for row in reader:
            if any(row):
                if len(row) > _MOST_CELLS:
                    raise Refusal("too_large", f"Line {reader.line_num} has more than {_MOST_CELLS} cells.")
                yield row
    except csv.Error:
        raise Refusal(
            "too_large",
            f"A cell that ends near line {reader.line_num} has more than {_LONGEST_CELL:,} characters; "
            "a quotation mark that is never closed can be the cause.",
        ) from None


def _lines(stream: Any) -> Iterator[str]:
    """Lines of bounded length: a longer one comes in parts, which the reader puts together or refuses."""
    while line := stream.readline(_LONGEST_CELL * 2):
        yield line


def _delimiter(sample: list[str]) -> str:
    """The one that cuts the first rows into the same number of cells, the more the better."""
    short = [line[:_SAMPLE_WIDTH] for line in sample]

    def score(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(short, delimiter=delimiter) if row]
        except csv.Error:
            return (0, 0)
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0, 0)

    return max(_DELIMITERS, key=score)
