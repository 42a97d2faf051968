"""JSON Schema from users: compiled when it is written, without retrieval, with patterns in linear time."""

import functools
from collections.abc import Iterable
from typing import Any

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.schema_weights import REFERENCES, Weights

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
_MOST_ERRORS = 20
# Stands for the value in messages, which must not repeat what was sent.
_MASK = "the value"
_UNFOLDING = ("unevaluatedProperties", "unevaluatedItems")
_HEAVIEST = 20_000
# Steps of a validator, which lets nothing else run meanwhile: some 25 nanoseconds to find out whether a value
# is valid, some 8 microseconds to say why it is not.
_MOST_STEPS = 20_000_000
_MOST_EXPLAINED_STEPS = 50_000
_MOST_EXPLAINED_LEVELS = 20
_TEXT_TO_A_STEP = 256


class JsonSchema:
    """A compiled schema; `errors` says what is wrong with a value, by dotted path."""

    __slots__ = ("_schema", "_validator", "_weights")

    def __init__(self, validator: Any, schema: dict[str, Any], weights: Weights) -> None:
        self._validator = validator
        self._schema = schema
        self._weights = weights

    def errors(self, value: Any, prefix: str) -> dict[str, str]:
        size, levels = _measured(value)
        if size * self._weights.of(self._schema) > _MOST_STEPS:
            return {prefix: "is too large to be checked against a schema of this size"}
        if self._validator.is_valid(value):
            return {}
        if not self._is_explainable(size, levels):
            return {prefix: "is not valid under its schema, in which it would take too long to say where"}
        return self._explained(value, prefix)

    def _is_explainable(self, size: int, levels: int) -> bool:
        if levels > _MOST_EXPLAINED_LEVELS:
            return False
        try:
            return size * self._weights.of(self._schema, levels) <= _MOST_EXPLAINED_STEPS
        except RecursionError:
            return False

    def _explained(self, value: Any, prefix: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for error in self._validator.iter_errors(value):
            path, message = _described(error)
            found.setdefault(".".join([prefix, *path]), message)
            if len(found) == _MOST_ERRORS:
                break
        return found


def _measured(value: Any) -> tuple[int, int]:
    """How many values there are in a value, a long text counting for several, and how deep they lie."""
    size = levels = 0
    inner = [value]
    while inner:
        size += len(inner) + sum(len(text) // _TEXT_TO_A_STEP for text in inner if isinstance(text, str))
        inner = [item for outer in inner for item in _items(outer)]
        levels += 1
    return size, levels


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _described(error: Any) -> tuple[list[str], str]:
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
    weights = Weights(schema)
    _refuse_weight(weights, schema)
    options = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
    try:
        validator = jsonschema_rs.validator_for(schema, pattern_options=options, mask=_MASK, offline=True)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(error.message) from None
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from None
    return JsonSchema(validator, schema, weights)


def _refuse_weight(weights: Weights, schema: dict[str, Any]) -> None:
    try:
        is_heavy = max(weights.of(schema), _unevaluated(weights, schema)) > _HEAVIEST
    except RecursionError:
        is_heavy = True
    if is_heavy:
        raise ValueError("its references repeat too many parts, or lead too far")


def _unevaluated(weights: Weights, value: Any) -> int:
    """The weight of what is unfolded already when it is compiled, to know what is left over by it."""
    is_unfolded = isinstance(value, dict) and not value.keys().isdisjoint(_UNFOLDING)
    own = weights.of(value) if is_unfolded else 0
    return own + sum(_unevaluated(weights, item) for item in _items(value))


def _check_depth(value: Any, field: str, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise Invalid({field: f"is nested more than {MAX_DEPTH} levels deep"})
    children: list[Any] = []
    if isinstance(value, dict):
        for name in REFERENCES:
            target = value.get(name)
            if isinstance(target, str) and not target.startswith("#"):
                raise Invalid({field: f"{name} may only point inside the schema itself (#…)"})
        if depth and isinstance(value.get("$id"), str):
            raise Invalid({field: "$id may only stand at the top, for references would begin anew below it"})
        children = list(value.values())
    elif isinstance(value, list):
        children = value
    for child in children:
        _check_depth(child, field, depth + 1)
