"""JSON: an array of objects, or consecutive objects; only one of them is in memory at a time."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from . import text_input
from .errors import SheetRefused

_BLOCK_LENGTH = 256 * 1024
_MAX_ITEM_LENGTH = 4 * 1024 * 1024
_BLANK = " \t\r\n\ufeff"


def read() -> Iterator[Any]:
    yield None
    text = _Text()
    is_array = text.peek() == "["
    if is_array:
        text.position += 1
    number = 0
    while True:
        text.skip("," + _BLANK if number else _BLANK)
        character = text.peek()
        if not character or (is_array and character == "]"):
            break
        number += 1
        item = text.item(number)
        if not isinstance(item, dict):
            raise SheetRefused("parse_error", f"Item {number} of the file is not an object.")
        yield item
    if is_array:
        if not text.peek():
            raise SheetRefused("parse_error", "The array in the file is not closed.")
        text.position += 1
        if text.peek():
            raise SheetRefused("parse_error", "The file has content after the end of the array.")


class _Text:
    """A buffered view of the file."""

    def __init__(self) -> None:
        self._stream = text_input.open_text(may_guess=False)
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        self._buffer = ""
        self.position = 0

    def peek(self) -> str:
        """Return the next character that is not blank, or "" at the end."""
        self.skip(_BLANK)
        return self._buffer[self.position : self.position + 1]

    def skip(self, characters: str) -> None:
        while True:
            while self.position < len(self._buffer) and self._buffer[self.position] in characters:
                self.position += 1
            if self.position < len(self._buffer) or not self._read_more():
                return

    def item(self, number: int) -> Any:
        """Parse the value that begins here, reading as much as it needs."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self.position)
            except RecursionError:
                raise SheetRefused("too_large", f"Item {number} of the file is nested too deeply.") from None
            except ValueError:
                if len(self._buffer) - self.position > _MAX_ITEM_LENGTH:
                    raise SheetRefused(
                        "too_large", f"Item {number} of the file is too large or not valid JSON."
                    ) from None
                if not self._read_more():
                    raise SheetRefused(
                        "parse_error", f"Item {number} of the file is not valid JSON."
                    ) from None
            else:
                self.position = end
                return value

    def _read_more(self) -> bool:
        # Double the buffer, so that a large value is not parsed a thousand times.
        block = self._stream.read(max(_BLOCK_LENGTH, len(self._buffer) - self.position))
        self._buffer, self.position = self._buffer[self.position :] + block, 0
        return bool(block)


def _refuse_constant(name: str) -> NoReturn:
    raise SheetRefused("parse_error", f"{name} is not a JSON value.")
