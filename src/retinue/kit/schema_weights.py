"""How much work a JSON Schema makes: its parts, counted as often as a validator may come by each of them.

References make a short schema long: twenty definitions that each name the next one twice are a million parts.
"""

from typing import Any
from urllib.parse import unquote

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
# What is asked of the value itself, and what is asked of each value inside it.
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
# No value is asked about more than one of these.
_OF_ONE_INSIDE = ("properties", "prefixItems")
_NAMES_TO_A_PART = 100


class Weights:
    """The weights of a schema's parts: for a value of so many levels, or of any depth without repetitions."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._anchored: dict[str, list[Any]] = {}
        self._known: dict[tuple[int, int | None], int] = {}
        _collect_anchors(root, self._anchored)

    def of(self, schema: Any, levels: int | None = None) -> int:
        if not isinstance(schema, dict) or levels == -1:
            return 1
        key = (id(schema), levels)
        if key not in self._known:
            # What leads back to where it began ends there.
            self._known[key] = 1
            self._known[key] = self._counted(schema, levels)
        return self._known[key]

    def _counted(self, schema: dict[str, Any], levels: int | None) -> int:
        below = None if levels is None else levels - 1
        weight = 1 + _listed(schema) // _NAMES_TO_A_PART
        weight += sum(self.of(target, levels) for target in self._targets(schema))
        weight += sum(self.of(part, levels) for name in _OF_ITSELF for part in _parts(schema, name))
        weight += sum(self.of(part, below) for name in _OF_ALL_INSIDE for part in _parts(schema, name))
        for name in _OF_ONE_INSIDE:
            weight += max((self.of(part, below) for part in _inner(schema.get(name))), default=0)
        return weight

    def _targets(self, schema: dict[str, Any]) -> list[Any]:
        return [
            target
            for name in REFERENCES
            if isinstance(schema.get(name), str)
            for target in self._found(schema[name].removeprefix("#"))
        ]

    def _found(self, reference: str) -> list[Any]:
        if reference and not reference.startswith("/"):
            return self._anchored.get(reference, [])
        found: Any = self._root
        for part in reference.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                found = found.get(name) if isinstance(found, dict) else None
        return [found]


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _parts(schema: dict[str, Any], keyword: str) -> list[Any]:
    """The schemas under a keyword that takes one, a list of them, or some by name."""
    value = schema.get(keyword)
    return [value] if isinstance(value, dict) and keyword not in _BY_NAME else _inner(value)


def _listed(schema: dict[str, Any]) -> int:
    return sum(len(_inner(schema.get(name))) for name in ("enum", "required"))


def _collect_anchors(value: Any, anchored: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        for name in _ANCHORS:
            if isinstance(value.get(name), str):
                anchored.setdefault(value[name], []).append(value)
    for inner in _inner(value):
        _collect_anchors(inner, anchored)
