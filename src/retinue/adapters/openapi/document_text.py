"""Parsing of the document's text: JSON, or the subset of YAML that is equivalent."""

from typing import Any

import msgspec

from retinue.adapters.openapi.description import InvalidDocument

MAX_JSON_BYTES = 8 * 1024 * 1024
MAX_YAML_BYTES = 8 * 1024 * 1024
# Parsing YAML takes a hundred times as long as JSON; larger texts are parsed in a child process.
MAX_INLINE_YAML_BYTES = 512 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_json(content: bytes) -> bool:
    return content.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith((b"{", b"["))


def parse_text(content: bytes, max_length: int | None = None) -> Any:
    """Parse JSON or YAML text in this process; `max_length` bounds YAML with its aliases written out."""
    if is_json(content):
        return _read_json(content.removeprefix(_BYTE_ORDER_MARK))
    text = check_yaml(content)
    from retinue.adapters.openapi.yaml_text import parse_yaml

    return parse_yaml(text, max_length=max_length)


def check_yaml(content: bytes) -> str:
    """Return the text; raise `InvalidDocument` if it is too large or not UTF-8."""
    if len(content) > MAX_YAML_BYTES:
        raise InvalidDocument(f"is larger than {MAX_YAML_BYTES // 1024**2} MiB of YAML")
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        raise InvalidDocument("is not UTF-8 text") from None


def _read_json(content: bytes) -> Any:
    if len(content) > MAX_JSON_BYTES:
        raise InvalidDocument(f"is larger than {MAX_JSON_BYTES // 1024**2} MiB")
    try:
        return msgspec.json.decode(content)
    except RecursionError:
        raise InvalidDocument("is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InvalidDocument(f"is not valid JSON: {error}") from None
