"""JSON Schema from users: compiled when it is written, without retrieval, with patterns in linear time."""

import functools
from typing import Any

import msgspec

from retinue.kit.errors import Invalid

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
_MOST_ERRORS = 20
# Stands for the value in messages, which must not repeat what was sent.
_MASK = "the value"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class JsonSchema:
    """A compiled schema; `errors` says what is wrong with a value, by dotted path."""

    __slots__ = ("_validator",)

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def errors(self, value: Any, prefix: str) -> dict[str, str]:
        if self._validator.is_valid(value):
            return {}
        found: dict[str, str] = {}
        for error in self._validator.iter_errors(value):
            path, message = _explained(error)
            found.setdefault(".".join([prefix, *path]), message)
            if len(found) == _MOST_ERRORS:
                break
        return found


def _explained(error: Any) -> tuple[list[str], str]:
    path = [str(part) for part in error.instance_path]
    if error.kind.name == "required":
        return [*path, error.kind.property], "is required"
    return path, error.message[:300]


def compile_schema(schema: dict[str, Any], field: str) -> JsonSchema:
    """The schema, ready to use; what cannot be used is refused under the name of its field."""
    text = msgspec.json.encode(schema, order="sorted")
    if len(text) > MAX_BYTES:
        raise Invalid({field: f"is larger than {MAX_BYTES // 1024} KiB"})
    _check_depth(schema, field)
    try:
        return _compiled(text)
    except ValueError as error:
        raise Invalid({field: f"is not a valid JSON Schema: {str(error)[:300]}"}) from None


@functools.lru_cache(maxsize=512)
def _compiled(text: bytes) -> JsonSchema:
    import jsonschema_rs

    schema = msgspec.json.decode(text)
    options = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
    try:
        validator = jsonschema_rs.validator_for(schema, pattern_options=options, mask=_MASK, offline=True)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(error.message) from None
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from None
    return JsonSchema(validator)


def _check_depth(value: Any, field: str, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise Invalid({field: f"is nested more than {MAX_DEPTH} levels deep"})
    children: list[Any] = []
    if isinstance(value, dict):
        for name in _REFERENCES:
            target = value.get(name)
            if isinstance(target, str) and not target.startswith("#"):
                raise Invalid({field: f"{name} may only point inside the schema itself (#…)"})
        children = list(value.values())
    elif isinstance(value, list):
        children = value
    for child in children:
        _check_depth(child, field, depth + 1)
