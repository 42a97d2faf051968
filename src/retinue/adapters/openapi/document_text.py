"""Parsing of the document's text: JSON, or the subset of YAML that is equivalent."""

from typing import Any

import msgspec

from retinue.adapters.openapi.description import InvalidDocument

MAX_JSON_BYTES = 8 * 1024 * 1024
# Parsing YAML takes a hundred times as long as JSON.
MAX_YAML_BYTES = 2 * 1024 * 1024


def parse_text(content: bytes) -> Any:
    """Parse JSON or YAML text; the largest YAML takes up to a second of CPU time."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip().startswith((b"{", b"[")):
        return _read_json(content)
    if len(content) > MAX_YAML_BYTES:
        raise InvalidDocument(f"is larger than {MAX_YAML_BYTES // 1024**2} MiB of YAML")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InvalidDocument("is not UTF-8 text") from None
    from retinue.adapters.openapi.yaml_text import parse_yaml

    return parse_yaml(text)


def _read_json(content: bytes) -> Any:
    if len(content) > MAX_JSON_BYTES:
        raise InvalidDocument(f"is larger than {MAX_JSON_BYTES // 1024**2} MiB")
    try:
        return msgspec.json.decode(content)
    except RecursionError:
        raise InvalidDocument("is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InvalidDocument(f"is not valid JSON: {error}") from None
