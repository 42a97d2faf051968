"""JSON Schemas from users: compiled without remote references, with linear-time patterns and bounded cost."""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema_cost import REFERENCES, SchemaCost

MAX_SCHEMA_BYTES = 64 * 1024
MAX_SCHEMA_DEPTH = 32
_MAX_ERRORS = 20
# Replaces the value in messages, which must not echo the input.
_MASK = "the value"
_UNFOLDING = ("unevaluatedProperties", "unevaluatedItems")
_MAX_SCHEMA_COST = 20_000
# Validation blocks the event loop. A step takes about 25 nanoseconds to decide whether a value is valid, and
# about 8 microseconds to explain why it is not.
_MAX_VALIDATION_STEPS = 20_000_000
_MAX_EXPLAINED_STEPS = 50_000
_MAX_EXPLAINED_LEVELS = 20
_CHARACTERS_PER_STEP = 256


class JsonSchema:
    """A compiled schema; `errors` returns the problems of a value, by dotted path."""

    __slots__ = ("_cost", "_schema", "_validator")

    def __init__(self, validator: Any, schema: JsonObject, cost: SchemaCost) -> None:
        self._validator = validator
        self._schema = schema
        self._cost = cost

    def errors(self, value: Any, prefix: str) -> dict[str, str]:
        size, levels = _measure(value)
        if size * self._cost.of(self._schema) > _MAX_VALIDATION_STEPS:
            return {prefix: "is too large to validate against this schema"}
        if self._validator.is_valid(value):
            return {}
        if not self._is_explainable(size, levels):
            return {prefix: "does not match its schema; it is too large or complex to locate the error"}
        return self._explained(value, prefix)

    def _is_explainable(self, size: int, levels: int) -> bool:
        if levels > _MAX_EXPLAINED_LEVELS:
            return False
        try:
            return size * self._cost.of(self._schema, levels) <= _MAX_EXPLAINED_STEPS
        except RecursionError:
            return False

    def _explained(self, value: Any, prefix: str) -> dict[str, str]:
        messages: dict[str, str] = {}
        for error in self._validator.iter_errors(value):
            path, message = _described(error)
            messages.setdefault(".".join([prefix, *path]), message)
            if len(messages) == _MAX_ERRORS:
                break
        return messages


def _measure(value: object) -> tuple[int, int]:
    """Return the number of values inside a value, long texts counting as several, and their depth."""
    size = levels = 0
    inner = [value]
    while inner:
        size += len(inner) + sum(len(text) // _CHARACTERS_PER_STEP for text in inner if isinstance(text, str))
        inner = [item for outer in inner for item in _items(outer)]
        levels += 1
    return size, levels


def _items(value: object) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _described(error: Any) -> tuple[list[str], str]:
    path = [str(part) for part in error.instance_path]
    if error.kind.name == "required":
        return [*path, error.kind.property], "is required"
    return path, error.message[:300]


def compile_schema(schema: JsonObject, field: str) -> JsonSchema:
    """Compile a schema; raise `Invalid` for its field if it cannot be used."""
    text = msgspec.json.encode(schema, order="sorted")
    if len(text) > MAX_SCHEMA_BYTES:
        raise Invalid({field: f"must be at most {MAX_SCHEMA_BYTES // 1024} KiB"})
    _check_depth(schema, field)
    try:
        return _compiled(text)
    except ValueError as error:
        raise Invalid({field: f"is not a valid JSON Schema: {str(error)[:300]}"}) from None


@functools.lru_cache(maxsize=512)
def _compiled(text: bytes) -> JsonSchema:
    import jsonschema_rs

    schema = msgspec.json.decode(text)
    cost = SchemaCost(schema)
    _refuse_expensive_schema(cost, schema)
    options = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
    try:
        validator = jsonschema_rs.validator_for(schema, pattern_options=options, mask=_MASK, offline=True)
    except jsonschema_rs.ValidationError as error:
        place = ".".join(map(str, error.instance_path))
        raise ValueError(f"at {place}: {error.message}" if place else error.message) from None
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from None
    return JsonSchema(validator, schema, cost)


def _refuse_expensive_schema(cost: SchemaCost, schema: JsonObject) -> None:
    try:
        is_too_expensive = max(cost.of(schema), _unevaluated_cost(cost, schema)) > _MAX_SCHEMA_COST
    except RecursionError:
        is_too_expensive = True
    if is_too_expensive:
        raise ValueError("its references expand to too many parts or are nested too deeply")


def _unevaluated_cost(cost: SchemaCost, value: object) -> int:
    """Return the cost of the parts that compilation already expands for `unevaluated…` keywords."""
    is_unfolded = isinstance(value, dict) and not value.keys().isdisjoint(_UNFOLDING)
    own = cost.of(value) if is_unfolded else 0
    return own + sum(_unevaluated_cost(cost, item) for item in _items(value))


def _check_depth(value: object, field: str, depth: int = 0) -> None:
    if depth > MAX_SCHEMA_DEPTH:
        raise Invalid({field: f"must be nested at most {MAX_SCHEMA_DEPTH} levels deep"})
    children: list[Any] = []
    if isinstance(value, dict):
        for name in REFERENCES:
            target = value.get(name)
            if isinstance(target, str) and not target.startswith("#"):
                raise Invalid({field: f"{name} must point inside the schema itself (#…)"})
        if depth and isinstance(value.get("$id"), str):
            raise Invalid({field: "$id is allowed only at the top level of the schema"})
        children = list(value.values())
    elif isinstance(value, list):
        children = value
    for child in children:
        _check_depth(child, field, depth + 1)
