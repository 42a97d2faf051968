"""The cost of a JSON Schema: the number of its parts, each counted as often as a validator may visit it.

References make a short schema expensive: twenty definitions that each reference the next one twice amount to
a million parts.
"""

from typing import Any
from urllib.parse import unquote

from retinue.kit.json_types import JsonObject

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
# Keywords that apply to the value itself, and keywords that apply to every value inside it.
_OF_ITSELF = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_OF_ALL_INSIDE = (
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
)
_BY_NAME = frozenset({"dependentSchemas", "dependencies", "patternProperties"})
# At most one schema under each of these keywords applies to an inner value.
_OF_ONE_INSIDE = ("properties", "prefixItems")
_NAMES_PER_PART = 100


class SchemaCost:
    """The cost of a schema's parts, for a value with a number of levels or, by default, of any depth."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._anchored: dict[str, list[Any]] = {}
        self._known: dict[tuple[int, int | None], int] = {}
        _collect_anchors(root, self._anchored)

    def of(self, schema: Any, levels: int | None = None) -> int:
        if not isinstance(schema, dict) or levels == -1:
            return 1
        key = (id(schema), levels)
        if key not in self._known:
            # Ends the recursion of a circular reference.
            self._known[key] = 1
            self._known[key] = self._compute_cost(schema, levels)
        return self._known[key]

    def _compute_cost(self, schema: JsonObject, levels: int | None) -> int:
        below = None if levels is None else levels - 1
        cost = 1 + _listed(schema) // _NAMES_PER_PART
        cost += sum(self.of(target, levels) for target in self._targets(schema))
        cost += sum(self.of(part, levels) for name in _OF_ITSELF for part in _parts(schema, name))
        cost += sum(self.of(part, below) for name in _OF_ALL_INSIDE for part in _parts(schema, name))
        for name in _OF_ONE_INSIDE:
            cost += max((self.of(part, below) for part in _inner(schema.get(name))), default=0)
        return cost

    def _targets(self, schema: JsonObject) -> list[Any]:
        return [
            target
            for name in REFERENCES
            if isinstance(schema.get(name), str)
            for target in self._resolve_reference(schema[name].removeprefix("#"))
        ]

    def _resolve_reference(self, reference: str) -> list[Any]:
        if reference and not reference.startswith("/"):
            return self._anchored.get(reference, [])
        target: Any = self._root
        for part in reference.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isdecimal() and int(name) < len(target):
                target = target[int(name)]
            else:
                target = target.get(name) if isinstance(target, dict) else None
        return [target]


def _inner(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _parts(schema: JsonObject, keyword: str) -> list[Any]:
    """Return the schemas under a keyword that holds one schema, a list or a mapping."""
    value = schema.get(keyword)
    return [value] if isinstance(value, dict) and keyword not in _BY_NAME else _inner(value)


def _listed(schema: JsonObject) -> int:
    return sum(len(_inner(schema.get(name))) for name in ("enum", "required"))


def _collect_anchors(value: object, anchored: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        for name in _ANCHORS:
            if isinstance(value.get(name), str):
                anchored.setdefault(value[name], []).append(value)
    for inner in _inner(value):
        _collect_anchors(inner, anchored)
