"""A provider may repeat the key it was asked with; the reply of a model then goes on without it.

The errors of a provider are cleaned of every form of the key. In replies, which come in great numbers and
piece by piece, the key is looked for as it stands.
"""

from typing import TypeVar

import msgspec

from retinue.adapters.llm import Delta, TextDelta
from retinue.kit.redaction import MASK, Redactor
from retinue.kit.secrets import Secret

# Nobody's key is shorter, and a shorter one would black out ordinary text.
_SHORTEST = 8

T = TypeVar("T", bound=msgspec.Struct)


class EchoGuard:
    """For one reply: what begins like the key is held back until it is clear that it is not the key."""

    def __init__(self, key: Secret) -> None:
        text = key.reveal()
        self._key = text if len(text) >= _SHORTEST else ""
        self._in_json = msgspec.json.encode(self._key)[1:-1]
        self._held = ""

    def clean(self, value: T) -> T:
        """The same value without the key."""
        if not self._key or self._in_json not in msgspec.json.encode(value):
            return value
        cleaned = Redactor([self._key]).value(msgspec.to_builtins(value))
        return msgspec.convert(cleaned, type(value))

    def pass_on(self, delta: Delta) -> tuple[Delta, ...]:
        """What of a streamed reply may go on, now that this part of it has come."""
        if not self._key:
            return (delta,)
        if not isinstance(delta, TextDelta):
            held, self._held = self._held, ""
            return (TextDelta(held), self.clean(delta)) if held else (self.clean(delta),)
        text = (self._held + delta.text).replace(self._key, MASK)
        end = self._end_of_clear(text)
        self._held = text[end:]
        return (TextDelta(text[:end]),) if end else ()

    def _end_of_clear(self, text: str) -> int:
        """Where at the end of a text the beginning of the key could stand."""
        first = self._key[0]
        start = text.find(first, max(0, len(text) - len(self._key) + 1))
        while start >= 0:
            if self._key.startswith(text[start:]):
                return start
            start = text.find(first, start + 1)
        return len(text)
