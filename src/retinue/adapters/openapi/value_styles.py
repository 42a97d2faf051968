"""How the values of a query or a form are written: the styles of OpenAPI 3 and the formats of Swagger 2."""

from collections.abc import Mapping
from typing import Any

from retinue.adapters.openapi.description import ValueStyle
from retinue.adapters.openapi.document import ApiDocument, is_json_media_type
from retinue.kit.json_types import JsonObject

FILE_SCHEMA: JsonObject = {
    "type": "object",
    "description": "A file: its content as `text`, or as `base64` if it is not text.",
    "properties": {
        "filename": {"type": "string"},
        "content_type": {"type": "string"},
        "text": {"type": "string"},
        "base64": {"type": "string"},
    },
    "required": ["filename"],
    "additionalProperties": False,
}

_STYLES: dict[str, ValueStyle] = {
    "deepObject": "brackets",
    "spaceDelimited": "space",
    "pipeDelimited": "pipe",
}
_COLLECTION_FORMATS: dict[str, ValueStyle] = {"multi": "repeat", "ssv": "space", "pipes": "pipe"}


def find_style(declaration: Mapping[str, Any]) -> ValueStyle:
    """Return the style of an OpenAPI 3 query parameter or of a property in a form's `encoding`."""
    if "content" in declaration or is_json_media_type(declaration.get("contentType")):
        return "json"
    style = declaration.get("style")
    if isinstance(style, str) and style in _STYLES:
        return _STYLES[style]
    return "comma" if declaration.get("explode") is False else "repeat"


def find_swagger_style(source: ApiDocument, declaration: Mapping[str, Any]) -> ValueStyle:
    """Return the style of a Swagger 2 parameter; its lists are joined by commas unless it says otherwise."""
    if is_file(source, declaration):
        return "file"
    if declaration.get("type") != "array":
        return "repeat"
    return _COLLECTION_FORMATS.get(str(declaration.get("collectionFormat")), "comma")


def is_file(source: ApiDocument, schema: object) -> bool:
    """Return whether a property is the content of a file, or a list of files."""
    resolved = source.follow(schema)
    if resolved.get("type") == "array":
        resolved = source.follow(resolved.get("items"))
    if resolved.get("type") == "file":
        return True
    is_encoded = "contentEncoding" in resolved
    is_binary = resolved.get("format") == "binary" or (
        "contentMediaType" in resolved and not is_json_media_type(resolved["contentMediaType"])
    )
    return is_binary and not is_encoded


def file_schema(source: ApiDocument, schema: object) -> JsonObject:
    """Return what stands for a file in the input: its name, its type and its content."""
    is_list = source.follow(schema).get("type") == "array"
    return {"type": "array", "items": FILE_SCHEMA} if is_list else FILE_SCHEMA
