"""The operations of a document and the names that their endpoints get."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from retinue.adapters.openapi.description import InvalidDocument, Method
from retinue.adapters.openapi.document import ApiDocument, clean_text
from retinue.kit.json_types import JsonObject

METHODS: dict[str, Method] = {
    "get": "GET",
    "post": "POST",
    "put": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
}
MAX_OPERATIONS = 1000
"""How many operations one tool can have."""

_OTHER_METHODS = ("head", "options", "trace")
_MAX_NAME_LENGTH = 64
_MAX_ID_LENGTH = 200
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")


class Operation(msgspec.Struct, frozen=True):
    """One operation; `item` describes its path and what all operations there share."""

    method: Method
    path: str
    item: JsonObject
    details: JsonObject
    name: str

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str:
        return clean_text(self.details.get("operationId"), _MAX_ID_LENGTH)


def open_document(document: object) -> ApiDocument:
    """Return the document of a supported format; raise `InvalidDocument` for any other value."""
    if not isinstance(document, dict):
        raise InvalidDocument("must be an object")
    if clean_text(document.get("openapi"), 20).startswith("3."):
        return ApiDocument(document, is_swagger=False)
    if clean_text(document.get("swagger"), 20).startswith("2."):
        return ApiDocument(document, is_swagger=True)
    raise InvalidDocument("must declare openapi 3.0 or 3.1, or swagger 2.0")


def list_operations(source: ApiDocument, names: Mapping[str, str] | None = None) -> list[Operation]:
    """Return the operations that a tool may call; `names` are those of an excerpt, by label."""
    paths = source.document.get("paths")
    if not isinstance(paths, dict):
        raise InvalidDocument("has no paths")
    unused = _Names()
    return [operation for path in paths for operation in _operations_at(source, path, unused, names)]


def _operations_at(
    source: ApiDocument, path: Any, unused: "_Names", names: Mapping[str, str] | None
) -> Iterator[Operation]:
    item = source.follow(source.document["paths"][path]) if isinstance(path, str) else {}
    for key, method in METHODS.items():
        if isinstance(details := item.get(key), dict):
            label = f"{method} {path}"
            if names is None:
                id = clean_text(details.get("operationId"), _MAX_ID_LENGTH)
                yield Operation(method, path, item, details, unused.next(id or label))
            elif label in names:
                yield Operation(method, path, item, details, names[label])
    for key in _OTHER_METHODS:
        if key in item:
            source.skip(f"{key.upper()} {path}", "tools use GET, POST, PUT, PATCH and DELETE only")


class ChosenOperations(msgspec.Struct, frozen=True):
    """The operations that were asked for; `unknown` are the positions of names that none has."""

    operations: list[Operation]
    unknown: list[int] = []


def choose_operations(operations: list[Operation], operation_names: list[str] | None) -> ChosenOperations:
    """Return the operations with these ids or names, or all; raise `InvalidDocument` if they are too many."""
    if operation_names is None:
        chosen, unknown = operations, []
    else:
        by_name = {operation.operation_id: operation for operation in operations if operation.operation_id}
        by_name |= {operation.name: operation for operation in operations}
        unknown = [position for position, name in enumerate(operation_names) if name not in by_name]
        chosen = list(
            {by_name[name].name: by_name[name] for name in operation_names if name in by_name}.values()
        )
    if len(chosen) > MAX_OPERATIONS:
        raise InvalidDocument(
            f"has {len(chosen)} operations, and a tool at most {MAX_OPERATIONS}; "
            "name the ones that you need in `operations`"
        )
    return ChosenOperations(chosen, unknown)


class _Names:
    """Generates unique endpoint names of lowercase letters, digits and underscores."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}

    def next(self, text: str) -> str:
        words = _NO_WORD.sub("_", _WORD_START.sub("_", text).lower())
        base_name = words.strip("_")[:_MAX_NAME_LENGTH].strip("_") or "operation"
        name = base_name
        while name in self._used:
            number = self._numbers[base_name] = self._numbers.get(base_name, 1) + 1
            name = f"{base_name[: _MAX_NAME_LENGTH - len(str(number)) - 1]}_{number}"
        self._used.add(name)
        return name
