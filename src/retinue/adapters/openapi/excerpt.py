"""The part of a document that the chosen operations need: themselves and what they refer to.

Large documents consist mostly of operations that nobody asked for, of examples and of errors.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from retinue.adapters.openapi.document import ApiDocument
from retinue.adapters.openapi.operations import (
    METHODS,
    Operation,
    choose_operations,
    list_operations,
    open_document,
)
from retinue.kit.json_types import JsonObject

_DOCUMENT_KEYS = ("openapi", "swagger", "info", "servers", "host", "basePath", "schemes", "security")
_SWAGGER_KEYS = ("consumes", "produces", "securityDefinitions")
_OPERATION_KEYS = (
    *("operationId", "summary", "description", "parameters", "requestBody", "servers", "security"),
    *("consumes", "produces"),
)
# Keywords that a tool does not need; inside of maps of names these are names that somebody chose.
_DROPPED = frozenset({"example", "examples", "callbacks", "links", "externalDocs", "tags"})
_MAX_POSITION_LENGTH = 6
_MAPS_OF_NAMES = frozenset(
    {
        *("properties", "patternProperties", "dependentSchemas", "definitions", "$defs"),
        *("security", "securitySchemes", "securityDefinitions", "variables", "encoding", "mapping"),
    }
)


class DocumentExcerpt(msgspec.Struct, frozen=True):
    """A document with the chosen operations only.

    `names` are the names of the endpoints by method and path, as the whole document gives them. `unknown` are
    the positions of wanted names that no operation has.
    """

    document: JsonObject
    names: dict[str, str]
    unknown: list[int]


def make_excerpt(document: object, operation_names: list[str] | None) -> DocumentExcerpt:
    """Return what is needed of a document for these operations; raise `InvalidDocument` if it is none."""
    source = open_document(document)
    chosen = choose_operations(list_operations(source), operation_names)
    kept = _Excerpt(source)
    for operation in chosen.operations:
        kept.add_operation(operation)
    names = {operation.label: operation.name for operation in chosen.operations}
    return DocumentExcerpt(kept.finish(), names, chosen.unknown)


class _Excerpt:
    def __init__(self, source: ApiDocument) -> None:
        self._source = source
        self._wanted_references: list[str] = []
        self._seen_references: set[str] = set()
        document = source.document
        self._kept: JsonObject = self._needed(
            {key: document[key] for key in (*_DOCUMENT_KEYS, *_SWAGGER_KEYS) if key in document}
        )
        self._kept["paths"] = {}
        schemes = source.follow(document.get("components")).get("securitySchemes")
        if isinstance(schemes, dict):
            self._kept["components"] = self._needed({"securitySchemes": schemes})

    def add_operation(self, operation: Operation) -> None:
        shared = {key: value for key, value in operation.item.items() if key not in METHODS}
        item = self._kept["paths"].setdefault(operation.path, self._needed(shared))
        details = {key: operation.details[key] for key in _OPERATION_KEYS if key in operation.details}
        responses = operation.details.get("responses")
        if isinstance(responses, dict):
            details["responses"] = {
                status: answer for status, answer in responses.items() if str(status)[:1] in {"2", "d"}
            }
        item[operation.method.lower()] = self._needed(details)

    def finish(self) -> JsonObject:
        """Return the excerpt with everything that it refers to."""
        while self._wanted_references:
            reference = self._wanted_references.pop()
            target = _find(self._source.document, reference)
            if target is not None:
                self._put(reference, self._needed(target))
        return self._kept

    def _needed(self, value: Any, *, has_names: bool = False) -> Any:
        """Return a copy without examples and extensions, and note what it refers to."""
        if isinstance(value, list):
            return [self._needed(item, has_names=has_names) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str) and not has_names and reference not in self._seen_references:
            self._seen_references.add(reference)
            self._wanted_references.append(reference)
        return {
            key: self._needed(inner, has_names=key in _MAPS_OF_NAMES and not has_names)
            for key, inner in value.items()
            if has_names or not (key in _DROPPED or (isinstance(key, str) and key.startswith("x-")))
        }

    def _put(self, reference: str, target: Any) -> None:
        """Put what a reference names at its place; parts of it may be there already."""
        *way, last = _steps(reference)
        place: Any = self._kept
        for name in way:
            place = place.setdefault(name, {}) if isinstance(place, dict) else _find_item(place, name)
        if isinstance(place, dict):
            place[last] = _completed(place.get(last), target)


def _completed(kept: Any, target: Any) -> Any:
    """Return a target together with what is kept of it, because other references needed that."""
    if not isinstance(kept, dict) or not isinstance(target, dict):
        return target
    return {**kept, **{key: _completed(kept.get(key), value) for key, value in target.items()}}


def _steps(reference: str) -> Iterator[str]:
    for part in reference[1:].split("/")[1:]:
        yield unquote(part).replace("~1", "/").replace("~0", "~")


def _find(document: Any, reference: str) -> Any:
    """Return the target of a local reference, or None."""
    if not reference.startswith("#/"):
        return None
    target = document
    for name in _steps(reference):
        target = target.get(name) if isinstance(target, dict) else _find_item(target, name)
    return target


def _find_item(items: Any, position: str) -> Any:
    """Return an item of a list by its position in a reference, or None."""
    if not isinstance(items, list) or not position.isdecimal() or len(position) >= _MAX_POSITION_LENGTH:
        return None
    return items[int(position)] if int(position) < len(items) else None
