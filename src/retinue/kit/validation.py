"""From msgspec's one error to every failing field at once, in the words of the contract."""

import re
from typing import Any

import msgspec

_PATH = re.compile(r"^(?P<message>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]+)`")
_INDEX = re.compile(r"\[(\d+|\.\.\.)\]")


def field_errors(
    error: msgspec.ValidationError, raw: Any, target: Any, *, strict: bool = True
) -> dict[str, str]:
    """Field name to message; nested names are dotted."""
    if isinstance(raw, dict) and isinstance(target, type) and issubclass(target, msgspec.Struct):
        found = _each_field(raw, target, strict=strict)
        if found:
            return found
    path, message = explain(error)
    return {path or "body": message}


def _each_field(raw: dict[str, Any], target: type[msgspec.Struct], *, strict: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for field in msgspec.structs.fields(target):
        if field.encode_name not in raw:
            if field.required:
                found[field.encode_name] = "is required"
            continue
        try:
            msgspec.convert(raw[field.encode_name], field.type, strict=strict)
        except msgspec.ValidationError as error:
            path, message = explain(error)
            found[".".join(filter(None, (field.encode_name, path)))] = message
    return found


def explain(error: msgspec.ValidationError) -> tuple[str, str]:
    """The dotted path and a message for people."""
    matched = _PATH.match(str(error))
    assert matched is not None
    message, path = matched["message"], matched["path"] or ""
    path = _INDEX.sub(r".\1", path.removeprefix("$")).strip(".")
    if "matching regex" in message:
        return path, "does not have the right form"
    missing = _MISSING.search(message)
    if missing:
        return ".".join(filter(None, (path, missing["field"]))), "is required"
    return path, message[:1].lower() + message[1:]
