"""JSON: an array of objects, or objects one after the other; never more than one of them in memory."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from . import text_of_file
from .refusals import Refusal

_BLOCK = 256 * 1024
_LARGEST_ITEM = 4 * 1024 * 1024
_BLANK = " \t\r\n\ufeff"


def read() -> Iterator[Any]:
    yield None
    text = _Text()
    is_array = text.first() == "["
    if is_array:
        text.at += 1
    number = 0
    while True:
        text.skip("," + _BLANK if number else _BLANK)
        character = text.first()
        if not character or (is_array and character == "]"):
            break
        number += 1
        item = text.item(number)
        if not isinstance(item, dict):
            raise Refusal("parse_error", f"Item {number} of the file is not an object.")
        yield item
    if is_array:
        if not text.first():
            raise Refusal("parse_error", "The array of the file is not closed.")
        text.at += 1
        if text.first():
            raise Refusal("parse_error", "There is something behind the end of the array.")


class _Text:
    """The part of the file that is being looked at."""

    def __init__(self) -> None:
        self._stream = text_of_file.opened(may_guess=False)
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        self._held = ""
        self.at = 0

    def first(self) -> str:
        """The next character that is not blank; nothing at the end."""
        self.skip(_BLANK)
        return self._held[self.at : self.at + 1]

    def skip(self, characters: str) -> None:
        while True:
            while self.at < len(self._held) and self._held[self.at] in characters:
                self.at += 1
            if self.at < len(self._held) or not self._more():
                return

    def item(self, number: int) -> Any:
        """The value that begins here, with as much read on as it takes."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self.at)
            except RecursionError:
                raise Refusal("too_large", f"Item {number} of the file is nested too deeply.") from None
            except ValueError:
                if len(self._held) - self.at > _LARGEST_ITEM:
                    raise Refusal(
                        "too_large", f"Item {number} of the file is too large, or no JSON."
                    ) from None
                if not self._more():
                    raise Refusal("parse_error", f"Item {number} of the file is not valid JSON.") from None
            else:
                self.at = end
                return value

    def _more(self) -> bool:
        # Twice as much as is held, so that a large value is not looked at a thousand times.
        block = self._stream.read(max(_BLOCK, len(self._held) - self.at))
        self._held, self.at = self._held[self.at :] + block, 0
        return bool(block)


def _refuse_constant(name: str) -> NoReturn:
    raise Refusal("parse_error", f"{name} is not a JSON value.")
