"""The leak guard: values that were used in a call are cut out of everything the call leaves behind.

A secret that goes out may come back: in an echo, an error, a log line, and in another encoding. What is
searched for is therefore each secret in every form it commonly takes.
"""

import base64
import contextlib
import html
import json
import urllib.parse
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

MASK = "***"
# Shorter values are no secrets, and would black out ordinary text.
_SHORTEST = 4
# More than any key has; each costs a search through all that comes back.
_MOST_LINES = 200

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
        return _cleaned_text(text, self._needles) if self._needles else text

    def value(self, value: Any) -> Any:
        """The same JSON value with every string in it cleaned, names of keys included."""
        if not self._needles:
            return value
        # One search through everything instead of one for each of what may be a hundred thousand texts.
        everything = _folded("\0".join(_texts(value)))
        present = {needle for needle in self._needles if needle in everything}
        return _cleaned(value, present) if present else value

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


def _cleaned(value: Any, needles: set[bytes]) -> Any:
    if isinstance(value, str):
        return _cleaned_text(value, needles)
    if isinstance(value, dict):
        return {_cleaned_text(str(name), needles): _cleaned(inner, needles) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner, needles) for inner in value]
    return MASK if _is_number(value) and str(value).encode() in needles else value


def _cleaned_text(text: str, needles: set[bytes]) -> str:
    spans = _found(_folded(text), needles)
    return _masked(text, spans) if spans else text


def _found(folded: bytes, needles: set[bytes]) -> list[tuple[int, int]]:
    # One search for each form: a pattern of all of them takes a thousand times as long to compile.
    spans = []
    for needle in needles:
        start = folded.find(needle)
        while start >= 0:
            end = start + len(needle)
            spans.append((start, end))
            start = folded.find(needle, end)
    return sorted(spans)


def _texts(value: Any) -> Iterator[str]:
    """Everything in a JSON value that could be a secret."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from map(str, value)
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif _is_number(value):
        yield str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
    """The secret as it stands, in code and markup, percent-encoded, in hexadecimal and in base64."""
    raw = secret.encode()
    in_json = json.dumps(secret)[1:-1]
    forms = {
        secret,
        in_json,
        in_json.replace("/", "\\/"),
        json.dumps(in_json)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        html.escape(secret, quote=False),
        urllib.parse.quote(secret, safe=""),
        urllib.parse.quote_plus(secret),
        urllib.parse.quote(secret),
        raw.hex(),
    }
    for offset in range(3):
        forms |= _aligned_base64(raw, offset)
    forms |= {line for line in secret.splitlines()[:_MOST_LINES] if len(line) >= 16}
    return {form for form in forms if len(form) >= _SHORTEST}


def _aligned_base64(raw: bytes, offset: int) -> set[str]:
    """What base64 makes of the secret when `offset` bytes stand before it, without the uncertain edges."""
    encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
    start = (0, 2, 3)[offset]
    end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
    core = encoded[start:end]
    # A short core would match by chance.
    return {core, core.replace("+", "-").replace("/", "_")} if len(core) >= 6 else set()
