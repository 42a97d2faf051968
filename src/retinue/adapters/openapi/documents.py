"""A description as text: JSON, or the part of YAML that means the same."""

from typing import Any

import msgspec

from retinue.adapters.openapi.description import InvalidDocument

MAX_JSON_BYTES = 8 * 1024 * 1024
# Reading YAML takes a hundred times as long as reading JSON.
MAX_YAML_BYTES = 2 * 1024 * 1024


def read_text(content: bytes) -> Any:
    """The value of a JSON or YAML text; up to a second of processor time for the largest YAML."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip().startswith((b"{", b"[")):
        return _read_json(content)
    if len(content) > MAX_YAML_BYTES:
        raise InvalidDocument(f"is larger than {MAX_YAML_BYTES // 1024**2} MiB of YAML")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise InvalidDocument("is not UTF-8 text") from None
    from retinue.adapters.openapi.yaml_text import read_yaml

    return read_yaml(text)


def _read_json(content: bytes) -> Any:
    if len(content) > MAX_JSON_BYTES:
        raise InvalidDocument(f"is larger than {MAX_JSON_BYTES // 1024**2} MiB")
    try:
        return msgspec.json.decode(content)
    except RecursionError:
        raise InvalidDocument("is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InvalidDocument(f"is not valid JSON: {error}") from None
