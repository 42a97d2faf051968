"""Removal of the provider key from model replies, in case a provider echoes it.

Provider errors are cleaned of every encoding of the key. Replies, which are many and arrive in pieces, are
only searched for the key itself.
"""

from typing import TypeVar

import msgspec

from retinue.adapters.llm import Delta, TextDelta
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import MASK, Redactor

# No real key is shorter, and a shorter one would mask ordinary text.
_MIN_KEY_LENGTH = 8

T = TypeVar("T", bound=msgspec.Struct)


class ReplyRedactor:
    """Redacts one reply; text that may be the start of the key is held back until that is decided."""

    def __init__(self, key: Secret) -> None:
        text = key.reveal()
        self._key = text if len(text) >= _MIN_KEY_LENGTH else ""
        self._in_json = msgspec.json.encode(self._key)[1:-1]
        self._held = ""

    def clean(self, value: T) -> T:
        """Return the value without the key."""
        if not self._key or self._in_json not in msgspec.json.encode(value):
            return value
        cleaned = Redactor([self._key]).value(msgspec.to_builtins(value))
        return msgspec.convert(cleaned, type(value))

    def redact_delta(self, delta: Delta) -> tuple[Delta, ...]:
        """Return the parts of a streamed reply that can be passed on now."""
        if not self._key:
            return (delta,)
        if not isinstance(delta, TextDelta):
            held, self._held = self._held, ""
            return (TextDelta(held), self.clean(delta)) if held else (self.clean(delta),)
        text = (self._held + delta.text).replace(self._key, MASK)
        end = self._clear_prefix_length(text)
        self._held = text[end:]
        return (TextDelta(text[:end]),) if end else ()

    def _clear_prefix_length(self, text: str) -> int:
        """Return the position from which the end of the text may be the start of the key."""
        first = self._key[0]
        start = text.find(first, max(0, len(text) - len(self._key) + 1))
        while start >= 0:
            if self._key.startswith(text[start:]):
                return start
            start = text.find(first, start + 1)
        return len(text)
