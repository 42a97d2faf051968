"""Redaction of the secrets used in a call from its results, errors and log lines.

A secret may come back in an echo, an error or a log line, and in another encoding. Each secret is therefore
searched for in every form it commonly takes.
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
# Shorter values are not secrets and would mask ordinary text.
_MIN_SECRET_LENGTH = 4
# More than any key has; each line costs one search through the whole output.
_MAX_SECRET_LINES = 200

_active: ContextVar["tuple[Redactor, ...]"] = ContextVar("redactors", default=())


class Redactor:
    """Replaces every form of its secrets with `***`."""

    __slots__ = ("_needles",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._needles: set[bytes] = set()
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        for secret in secrets:
            if len(secret) >= _MIN_SECRET_LENGTH:
                self._needles.update(map(_fold, _forms(secret)))

    def text(self, text: str) -> str:
        return _cleaned_text(text, self._needles) if self._needles else text

    def value(self, value: Any) -> Any:
        """Return a JSON value with every string in it redacted, including keys."""
        if not self._needles:
            return value
        # One search through the joined text instead of one per string: there may be a hundred thousand.
        everything = _fold("\0".join(_texts(value)))
        present = {needle for needle in self._needles if needle in everything}
        return _cleaned(value, present) if present else value

    @contextlib.contextmanager
    def guarding_logs(self) -> Iterator[None]:
        """Redact log lines of the current task while the block runs."""
        token = _active.set((*_active.get(), self))
        try:
            yield
        finally:
            _active.reset(token)

    def __repr__(self) -> str:
        return f"Redactor({len(self._needles)} forms)"


def _cleaned(value: object, needles: set[bytes]) -> Any:
    if isinstance(value, str):
        return _cleaned_text(value, needles)
    if isinstance(value, dict):
        return {_cleaned_text(str(name), needles): _cleaned(inner, needles) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner, needles) for inner in value]
    return MASK if _is_number(value) and str(value).encode() in needles else value


def _cleaned_text(text: str, needles: set[bytes]) -> str:
    spans = _find_spans(_fold(text), needles)
    return _masked(text, spans) if spans else text


def _find_spans(folded: bytes, needles: set[bytes]) -> list[tuple[int, int]]:
    # One search per form: a regular expression of all forms takes a thousand times as long to compile.
    spans = []
    for needle in needles:
        start = folded.find(needle)
        while start >= 0:
            end = start + len(needle)
            spans.append((start, end))
            start = folded.find(needle, end)
    return sorted(spans)


def _texts(value: object) -> Iterator[str]:
    """Yield every string, key and number in a JSON value."""
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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fold(text: str) -> bytes:
    """Lower the case of ASCII letters for comparison; byte positions stay the same."""
    return _encoded(text).lower()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace every span by the mask; overlapping spans are merged."""
    raw, kept, done = _encoded(text), [], 0
    for start, end in spans:
        if start >= done:
            kept.append(raw[done:start])
        done = max(done, end)
    kept.append(raw[done:])
    return MASK.encode().join(kept).decode("utf-8", "surrogatepass")


def has_active_redactor() -> bool:
    return bool(_active.get())


def redact_for_log(text: str) -> str:
    for redactor in _active.get():
        text = redactor.text(text)
    return text


def _forms(secret: str) -> set[str]:
    """Return the secret as plain text, in JSON, Python and HTML, percent-encoded, in hex and base64."""
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
    forms |= {line for line in secret.splitlines()[:_MAX_SECRET_LINES] if len(line) >= 16}
    return {form for form in forms if len(form) >= _MIN_SECRET_LENGTH}


def _aligned_base64(raw: bytes, offset: int) -> set[str]:
    """Return the base64 of the secret after `offset` other bytes, without the characters that vary."""
    encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
    start = (0, 2, 3)[offset]
    end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
    core = encoded[start:end]
    # A short core would match by chance.
    return {core, core.replace("+", "-").replace("/", "_")} if len(core) >= 6 else set()
