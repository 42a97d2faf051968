"""Parsing of the `Range` header for a single range (RFC 9110, section 14)."""

import re

import msgspec

from retinue.files.errors import RangeNotSatisfiable

_RANGE = re.compile(r"\s*bytes\s*=\s*(?:(\d{1,18})\s*-\s*(\d{1,18})?|-\s*(\d{1,18}))\s*", re.ASCII)


class ByteRange(msgspec.Struct, frozen=True):
    offset: int
    length: int

    def content_range(self, size: int) -> str:
        return f"bytes {self.offset}-{self.offset + self.length - 1}/{size}"


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the requested range; None, for the whole file, if there are several or it is malformed."""
    match = _RANGE.fullmatch(header)
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        length = min(int(suffix), size)
        return _within(size - length, length, size)
    offset = int(first)
    if last is not None and int(last) < offset:
        return None
    end = size if last is None else min(int(last) + 1, size)
    return _within(offset, end - offset, size)


def _within(offset: int, length: int, size: int) -> ByteRange:
    if offset >= size or length < 1:
        raise RangeNotSatisfiable(size)
    return ByteRange(offset, length)
