"""The leak guard: values that were used in a call are cut out of everything the call leaves behind.

A secret that goes out may come back: in an echo, an error, a log line, and in another encoding. What is
searched for is therefore each secret in every form it commonly takes.
"""

import base64
import contextlib
import json
import urllib.parse
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

MASK = "***"
# Shorter values are no secrets, and would black out ordinary text.
_SHORTEST = 4

_active: ContextVar["tuple[Redactor, ...]"] = ContextVar("redactors", default=())


class Redactor:
    """Replaces every form of the given secrets with `***`; without secrets it changes nothing."""

    __slots__ = ("_needles",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._needles: set[bytes] = set()
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        for secret in secrets:
            if len(secret) >= _SHORTEST:
                self._needles.update(map(_folded, _forms(secret)))

    def text(self, text: str) -> str:
        if not self._needles:
            return text
        spans = self._found(_folded(text))
        return _masked(text, spans) if spans else text

    def _found(self, folded: bytes) -> list[tuple[int, int]]:
        # One search for each form: a pattern of all of them takes a thousand times as long to compile.
        spans = []
        for needle in self._needles:
            start = folded.find(needle)
            while start >= 0:
                end = start + len(needle)
                spans.append((start, end))
                start = folded.find(needle, end)
        return sorted(spans)

    def value(self, value: Any) -> Any:
        """The same JSON value with every string in it cleaned, names of keys included."""
        if not self._needles:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and str(value).encode() in self._needles:
            return MASK
        return value

    @contextlib.contextmanager
    def guarding_logs(self) -> Iterator[None]:
        """While this runs, what is logged here is cleaned too."""
        token = _active.set((*_active.get(), self))
        try:
            yield
        finally:
            _active.reset(token)

    def __repr__(self) -> str:
        return f"Redactor({len(self._needles)} forms)"


def _folded(text: str) -> bytes:
    """For comparing without regard to upper and lower case; places stay where they are."""
    return _encoded(text).lower()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with every span cut out; spans that overlap are one."""
    raw, kept, done = _encoded(text), [], 0
    for start, end in spans:
        if start >= done:
            kept.append(raw[done:start])
        done = max(done, end)
    kept.append(raw[done:])
    return MASK.encode().join(kept).decode("utf-8", "surrogatepass")


def clean_for_log(text: str) -> str:
    for redactor in _active.get():
        text = redactor.text(text)
    return text


def _forms(secret: str) -> set[str]:
    """The secret as it stands, in JSON, percent-encoded, in hexadecimal and in base64 at each alignment."""
    raw = secret.encode()
    forms = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        urllib.parse.quote(secret, safe=""),
        urllib.parse.quote_plus(secret),
        urllib.parse.quote(secret),
        raw.hex(),
    }
    for offset in range(3):
        forms |= _aligned_base64(raw, offset)
    forms |= {line for line in secret.splitlines() if len(line) >= 16}
    return {form for form in forms if len(form) >= _SHORTEST}


def _aligned_base64(raw: bytes, offset: int) -> set[str]:
    """What base64 makes of the secret when `offset` bytes stand before it, without the uncertain edges."""
    encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
    start = (0, 2, 3)[offset]
    end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
    core = encoded[start:end]
    # A short core would match by chance.
    return {core, core.replace("+", "-").replace("/", "_")} if len(core) >= 6 else set()
