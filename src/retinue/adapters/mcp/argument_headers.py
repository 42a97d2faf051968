"""Arguments that a tool wants repeated in HTTP headers (`x-mcp-header`), since the revision 2026-07-28."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from retinue.kit.json_types import JsonObject

_ANNOTATION = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}", re.ASCII)
_PLAIN = re.compile(r"(?! )[\x20-\x7e]*(?<! )", re.ASCII)
_TYPES = ("string", "integer", "boolean")
_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_PLAIN_DATA = frozenset({"default", "examples", "const", "enum"})

ArgumentPath = tuple[str, ...]


def mirrored_arguments(schema: JsonObject) -> dict[ArgumentPath, str] | None:
    """Return the header name of each argument to repeat, or None if the schema's annotations are invalid."""
    header_names: dict[ArgumentPath, str] = {}
    used_names: set[str] = set()
    for path, inner in _schemas(schema, ()):
        if _ANNOTATION not in inner:
            continue
        token = inner[_ANNOTATION]
        if not path or not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return None
        if inner.get("type") not in _TYPES or token.lower() in used_names:
            return None
        header_names[path] = token
        used_names.add(token.lower())
    return header_names


def mirrored_headers(mirrored: Mapping[ArgumentPath, str], arguments: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    for path, token in mirrored.items():
        value = _value_at(arguments, path)
        if isinstance(value, bool):
            headers[f"Mcp-Param-{token}"] = "true" if value else "false"
        elif isinstance(value, str | int | float):
            headers[f"Mcp-Param-{token}"] = header_value(str(value))
    return headers


def header_value(text: str) -> str:
    """Return text in a form that headers allow: unchanged, or as base64 between the protocol's markers."""
    is_marked = text.startswith("=?base64?") and text.endswith("?=")
    if _PLAIN.fullmatch(text) and not is_marked:
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="


def _schemas(schema: object, path: ArgumentPath | None) -> Iterator[tuple[ArgumentPath | None, JsonObject]]:
    """Yield every nested schema; only those reached through `properties` alone have a path."""
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


def _value_at(arguments: object, path: ArgumentPath) -> Any:
    for name in path:
        if not isinstance(arguments, Mapping):
            return None
        arguments = arguments.get(name)
    return arguments
