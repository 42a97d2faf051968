"""`Range`: one part of a file, as players and interrupted downloads ask for it (RFC 9110, section 14)."""

import re

import msgspec

from retinue.files.errors import RangeNotSatisfiable

_RANGE = re.compile(r"\s*bytes\s*=\s*(?:(\d{1,18})\s*-\s*(\d{1,18})?|-\s*(\d{1,18}))\s*", re.ASCII)


class Part(msgspec.Struct, frozen=True):
    offset: int
    length: int

    def described(self, size: int) -> str:
        return f"bytes {self.offset}-{self.offset + self.length - 1}/{size}"


def read_range(header: str, size: int) -> Part | None:
    """The part asked for; None, and so the whole file, where it is several parts or not understood."""
    found = _RANGE.fullmatch(header)
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        length = min(int(suffix), size)
        return _within(size - length, length, size)
    offset = int(first)
    if last is not None and int(last) < offset:
        return None
    end = size if last is None else min(int(last) + 1, size)
    return _within(offset, end - offset, size)


def _within(offset: int, length: int, size: int) -> Part:
    if offset >= size or length < 1:
        raise RangeNotSatisfiable(size)
    return Part(offset, length)
