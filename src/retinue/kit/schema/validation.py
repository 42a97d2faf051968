"""Collects the errors of all invalid fields; msgspec itself reports only the first."""

import enum
import re
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, get_args, get_origin

import msgspec

from retinue.kit.clock import Instant, to_instant
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.messages import (
    REQUIRED,
    WRONG_FORM,
    FieldRule,
    PatternMessage,
    human_message,
    one_of_message,
)

_PATH = re.compile(r"^(?P<message>.*?)(?: - at (?P<key>`key` in )?`(?P<path>[^`]*)`)?$", re.DOTALL)
_NAMED = re.compile(r"Object (?:missing required|contains unknown) field `(?P<field>.+)`", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")
_MAX_ITEMS = 100
_LISTS = (list, tuple, set, frozenset)

FieldErrors = dict[str, str]


def read_instant(field: str, written: str) -> Instant:
    """Convert a caller's date and time to the form in which instants are stored and compared."""
    try:
        return to_instant(datetime.fromisoformat(written))
    except (ValueError, OverflowError):
        raise Invalid({field: "must be a date and time such as 2026-11-15T08:30:00Z"}) from None


def read_expiry(written: str | None, now: Instant, field: str = "expires_at") -> Instant | None:
    """Parse an expiry, which must be in the future; None means never."""
    if written is None:
        return None
    expires_at = read_instant(field, written)
    if expires_at <= now:
        raise Invalid({field: "must be in the future"})
    return expires_at


def check_each(*checks: Callable[[], None]) -> None:
    """Run every check, and raise one error with all fields that they refuse."""
    problems: FieldErrors = {}
    for check in checks:
        try:
            check()
        except Invalid as refused:
            problems |= {field: str(problem) for field, problem in (refused.details or {}).items()}
    if problems:
        raise Invalid(problems)


def field_errors(
    error: msgspec.ValidationError, raw: object, target: object, *, strict: bool = True
) -> FieldErrors:
    """Return the error messages by dotted field name.

    A pattern brings its message: `Annotated[str, Meta(pattern=…), PatternMessage("must be …")]`.
    """
    errors = _errors_of(raw, target, strict=strict)
    if errors:
        return {path or "body": message for path, message in errors.items()}
    path, message = describe_validation_error(error)
    return {path or "body": message}


def describe_validation_error(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return the dotted path and a message for people."""
    matched = _PATH.match(str(error))
    assert matched is not None
    message, path = matched["message"], matched["path"] or ""
    path = _INDEX.sub(r".\1", path.removeprefix("$").replace("[...]", ".*")).strip(".")
    phrase = human_message(message)
    named = _NAMED.fullmatch(message)
    if named:
        return ".".join(filter(None, (path, named["field"]))), phrase
    return path, f"has a name that {phrase}" if matched["key"] else phrase


def _errors_of(raw: object, target: object, *, strict: bool) -> FieldErrors:
    """Return the errors in `raw` by dotted path; the empty path is `raw` itself."""
    if _inner(target) is msgspec.Raw:
        # Whatever is left as it was sent cannot be wrong, and a decoded value is no `Raw`.
        return {}
    arm = _arm(target, raw) if strict else target
    inner = _inner(arm)
    below = _errors_below(raw, inner, strict=strict)
    if below:
        return below
    try:
        msgspec.convert(raw, arm, strict=strict)
    except msgspec.ValidationError as error:
        path, message = describe_validation_error(error)
        if path:
            return _errors_at(path, message, raw, inner, strict=strict)
        return {"": _specific_message(message, raw, arm)}
    problem = next(filter(None, (rule.problem(raw) for rule in _rules(arm))), "")
    return {"": problem} if problem else {}


def _errors_below(raw: object, inner: object, *, strict: bool) -> FieldErrors:
    """Return the errors of the values inside `raw`."""
    errors: FieldErrors = {}
    origin = get_origin(inner)
    if isinstance(raw, dict) and isinstance(inner, type) and issubclass(inner, msgspec.Struct):
        return _errors_of_fields(raw, inner, strict=strict)
    if isinstance(raw, list) and origin in _LISTS and len(raw) <= _MAX_ITEMS:
        for position, value in enumerate(raw):
            errors |= _below(str(position), _errors_of(value, get_args(inner)[0], strict=strict))
    elif isinstance(raw, dict) and origin is dict and len(raw) <= _MAX_ITEMS:
        key_type, value_type = get_args(inner)
        for key, value in raw.items():
            key_errors = _errors_of(key, key_type, strict=strict)
            errors |= {str(key): f"has a name that {message}" for message in key_errors.values()}
            errors |= _below(str(key), _errors_of(value, value_type, strict=strict))
    return errors


def _errors_at(path: str, message: str, raw: object, inner: object, *, strict: bool) -> FieldErrors:
    """Return the errors of the first invalid item of a list that is too long to check each one."""
    first = path.partition(".")[0]
    if isinstance(raw, list) and get_origin(inner) in _LISTS and first.isdigit() and int(first) < len(raw):
        errors = _errors_of(raw[int(first)], get_args(inner)[0], strict=strict)
        if errors:
            return _below(first, errors)
    return {path: message}


def _errors_of_fields(raw: JsonObject, target: type[msgspec.Struct], *, strict: bool) -> FieldErrors:
    errors: FieldErrors = {}
    for field in msgspec.structs.fields(target):
        name = field.encode_name
        if name in raw:
            errors |= _below(name, _errors_of(raw[name], field.type, strict=strict))
        elif field.required:
            errors[name] = REQUIRED
    return errors


def _below(name: str, errors: FieldErrors) -> FieldErrors:
    return {f"{name}.{path}" if path else name: message for path, message in errors.items()}


def _specific_message(message: str, raw: object, target: object) -> str:
    """Replace a generic message by one that names the type's choices or the meaning of its pattern."""
    allowed = _allowed(_inner(target))
    if allowed:
        return one_of_message([*allowed, "null"] if raw is not None and _takes_null(target) else allowed)
    if message == WRONG_FORM:
        return next(_pattern_messages(target), message)
    return message


def _arms(annotation: object) -> Sequence[Any]:
    if get_origin(annotation) is typing.Annotated:
        return _arms(get_args(annotation)[0])
    return get_args(annotation) if get_origin(annotation) in {typing.Union, types.UnionType} else ()


def _takes_null(annotation: object) -> bool:
    return type(None) in _arms(annotation)


def _arm(annotation: object, raw: object) -> Any:
    """Return the member of a union that fits the JSON type of the value; the whole union if ambiguous."""
    arms = [arm for arm in _arms(annotation) if arm not in {type(None), msgspec.UnsetType}]
    if len(arms) < 2:
        return annotation
    fitting = [arm for arm in arms if _kind(_inner(arm)) is type(raw)]
    return fitting[0] if len(fitting) == 1 else annotation


def _kind(inner: object) -> Any:
    """Return the JSON type that a type accepts."""
    origin = get_origin(inner)
    if origin in _LISTS:
        return list
    if origin is dict or (isinstance(inner, type) and issubclass(inner, msgspec.Struct)):
        return dict
    if isinstance(inner, type) and issubclass(inner, str):
        return str
    return inner


def _inner(annotation: object) -> Any:
    """Return the bare type, without constraints, null and UNSET."""
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


def _rules(annotation: object) -> Iterator[FieldRule]:
    if get_origin(annotation) is typing.Annotated:
        inner, *extras = get_args(annotation)
        yield from (extra for extra in extras if isinstance(extra, FieldRule))
        yield from _rules(inner)


def _pattern_messages(annotation: object) -> Iterator[str]:
    if get_origin(annotation) is typing.Annotated:
        inner, *extras = get_args(annotation)
        yield from (extra.sentence for extra in extras if isinstance(extra, PatternMessage))
        yield from _pattern_messages(inner)
    for arm in _arms(annotation):
        yield from _pattern_messages(arm)


def _allowed(inner: object) -> list[str]:
    if isinstance(inner, type) and issubclass(inner, enum.Enum):
        return [str(member.value) for member in inner]
    if get_origin(inner) is Literal:
        return [str(value) for value in get_args(inner)]
    # A union such as `int | Literal["draft"]`.
    choices = [choice for arm in _arms(inner) for choice in _allowed(_inner(arm))]
    return ["a whole number", *choices] if choices and int in map(_inner, _arms(inner)) else choices
