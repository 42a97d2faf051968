"""Parsing of the document's text: JSON, or the subset of YAML that is equivalent."""

from typing import Any

import msgspec

from retinue.adapters.openapi.description import InvalidDocument

MAX_JSON_BYTES = 16 * 1024 * 1024
MAX_YAML_BYTES = 16 * 1024 * 1024
# Parsing YAML takes a hundred times as long as JSON; larger texts are parsed in a child process.
MAX_INLINE_YAML_BYTES = 512 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_json(content: bytes) -> bool:
    return content.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith((b"{", b"["))


def parse_text(content: bytes, max_length: int | None = None, *, max_events: int | None = None) -> Any:
    """Parse JSON or YAML text in this process; `max_length` bounds YAML with its aliases written out.

    `max_events` bounds the parts of YAML; the default is for a process that has other work.
    """
    if is_json(content):
        return _read_json(content.removeprefix(_BYTE_ORDER_MARK))
    text = check_yaml(content)
    from retinue.adapters.openapi.yaml_text import MAX_INLINE_EVENTS, parse_yaml

    return parse_yaml(text, max_events=max_events or MAX_INLINE_EVENTS, max_length=max_length)


def check_yaml(content: bytes) -> str:
    """Return the text; raise `InvalidDocument` if it is too large or not UTF-8."""
    if len(content) > MAX_YAML_BYTES:
        raise InvalidDocument(_too_large(content, MAX_YAML_BYTES))
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        raise InvalidDocument("is not UTF-8 text") from None


def check_size(content: bytes) -> None:
    """Raise `InvalidDocument` if the text is too large."""
    max_bytes = MAX_JSON_BYTES if is_json(content) else MAX_YAML_BYTES
    if len(content) > max_bytes:
        raise InvalidDocument(_too_large(content, max_bytes))


def _too_large(content: bytes, max_bytes: int) -> str:
    return f"has {len(content) / 1024**2:.1f} MiB, and at most {max_bytes // 1024**2} MiB are read"


def _read_json(content: bytes) -> Any:
    if len(content) > MAX_JSON_BYTES:
        raise InvalidDocument(_too_large(content, MAX_JSON_BYTES))
    try:
        return msgspec.json.decode(content)
    except RecursionError:
        raise InvalidDocument("is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidDocument(f"is not valid JSON: {error}") from None
