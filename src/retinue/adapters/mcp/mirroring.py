"""Arguments a tool wants repeated in HTTP headers (`x-mcp-header`), since the revision 2026-07-28."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

_ANNOTATION = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}", re.ASCII)
_PLAIN = re.compile(r"(?! )[\x20-\x7e]*(?<! )", re.ASCII)
_TYPES = ("string", "integer", "boolean")
_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_PLAIN_DATA = frozenset({"default", "examples", "const", "enum"})

Path = tuple[str, ...]


def mirrored_arguments(schema: dict[str, Any]) -> dict[Path, str] | None:
    """The header's name for each argument to repeat; None when the schema's wishes are not allowed."""
    found: dict[Path, str] = {}
    taken: set[str] = set()
    for path, inner in _schemas(schema, ()):
        if _ANNOTATION not in inner:
            continue
        token = inner[_ANNOTATION]
        if not path or not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return None
        if inner.get("type") not in _TYPES or token.lower() in taken:
            return None
        found[path] = token
        taken.add(token.lower())
    return found


def mirrored_headers(mirrored: Mapping[Path, str], arguments: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    for path, token in mirrored.items():
        value = _value_at(arguments, path)
        if isinstance(value, bool):
            headers[f"Mcp-Param-{token}"] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            headers[f"Mcp-Param-{token}"] = header_value(str(value))
    return headers


def header_value(text: str) -> str:
    """Text as it may stand in a header: as it is, or in base64 between the protocol's markers."""
    is_marked = text.startswith("=?base64?") and text.endswith("?=")
    if _PLAIN.fullmatch(text) and not is_marked:
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="


def _schemas(schema: Any, path: Path | None) -> Iterator[tuple[Path | None, dict[str, Any]]]:
    """Every schema inside a schema; only those behind nothing but `properties` have a path."""
    if isinstance(schema, list):
        for item in schema:
            yield from _schemas(item, None)
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword in _PLAIN_DATA:
            continue
        if keyword not in _MAPS_OF_SCHEMAS or not isinstance(value, dict):
            yield from _schemas(value, None)
            continue
        for name, inner in value.items():
            is_reachable = keyword == "properties" and path is not None
            yield from _schemas(inner, (*path, name) if is_reachable and path is not None else None)


def _value_at(arguments: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(arguments, Mapping):
            return None
        arguments = arguments.get(name)
    return arguments
