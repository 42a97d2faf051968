"""From msgspec's one error to every failing field at once, in the words of the contract."""

import enum
import re
import types
import typing
from datetime import datetime
from typing import Any, Literal, get_args, get_origin

import msgspec

from retinue.kit.clock import Instant, instant
from retinue.kit.errors import Invalid

_PATH = re.compile(r"^(?P<message>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]+)`")
_INDEX = re.compile(r"\[(\d+|\.\.\.)\]")
_MOST_ITEMS = 100


def read_instant(field: str, written: str) -> Instant:
    """A moment as callers write it, in the one form in which instants are stored and compared."""
    try:
        return instant(datetime.fromisoformat(written))
    except (ValueError, OverflowError):
        raise Invalid({field: "must be a date and time such as 2026-11-15T08:30:00Z"}) from None


def field_errors(
    error: msgspec.ValidationError, raw: Any, target: Any, *, strict: bool = True
) -> dict[str, str]:
    """Field name to message; nested names are dotted."""
    found = _errors_of(raw, target, strict=strict)
    if found:
        return {path or "body": message for path, message in found.items()}
    path, message = explain(error)
    return {path or "body": message}


def _errors_of(raw: Any, target: Any, *, strict: bool) -> dict[str, str]:
    """Each failing place below `raw`, by its dotted path; the empty path is `raw` itself."""
    inner = _inner(target)
    if isinstance(raw, dict) and isinstance(inner, type) and issubclass(inner, msgspec.Struct):
        return _errors_of_fields(raw, inner, strict=strict)
    if isinstance(raw, list) and get_origin(inner) is list and len(raw) <= _MOST_ITEMS:
        (item,) = get_args(inner)
        found: dict[str, str] = {}
        for position, value in enumerate(raw):
            found |= _below(str(position), _errors_of(value, item, strict=strict))
        if found:
            return found
    try:
        msgspec.convert(raw, target, strict=strict)
    except msgspec.ValidationError as error:
        path, message = explain(error)
        allowed = _allowed(inner)
        return {path: f"must be one of {', '.join(allowed)}" if allowed and not path else message}
    return {}


def _errors_of_fields(raw: dict[str, Any], target: type[msgspec.Struct], *, strict: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for field in msgspec.structs.fields(target):
        name = field.encode_name
        if name in raw:
            found |= _below(name, _errors_of(raw[name], field.type, strict=strict))
        elif field.required:
            found[name] = "is required"
    return found


def _below(name: str, found: dict[str, str]) -> dict[str, str]:
    return {f"{name}.{path}" if path else name: message for path, message in found.items()}


def _inner(annotation: Any) -> Any:
    """The type itself, without its constraints and without what says that it may be left out."""
    while True:
        if get_origin(annotation) is typing.Annotated:
            annotation = get_args(annotation)[0]
            continue
        if get_origin(annotation) not in {typing.Union, types.UnionType}:
            return annotation
        arms = [arm for arm in get_args(annotation) if arm not in {type(None), msgspec.UnsetType}]
        if len(arms) != 1:
            return annotation
        annotation = arms[0]


def _allowed(inner: Any) -> list[str]:
    if isinstance(inner, type) and issubclass(inner, enum.Enum):
        return [str(member.value) for member in inner]
    if get_origin(inner) is Literal:
        return [str(value) for value in get_args(inner)]
    return []


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
