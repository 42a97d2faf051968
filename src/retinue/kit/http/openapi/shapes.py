"""JSON schemas of our types: msgspec writes them, and here they get the names a reader expects."""

import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import inspect

_REF = "#/components/schemas/"


class Shapes:
    """Gives the schema of a type, and collects the components that these schemas refer to."""

    def __init__(self) -> None:
        self._classes: dict[str, Any] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._inputs: set[str] = set()
        self._known: dict[Any, tuple[dict[str, Any], set[str]]] = {}

    def taken(self, type: Any) -> dict[str, Any]:
        """The schema of what a client sends."""
        schema, names = self._schema_of(type)
        self._inputs |= names
        return dict(schema)

    def given(self, type: Any) -> dict[str, Any]:
        """The schema of what a client gets."""
        return dict(self._schema_of(type)[0])

    def components(self) -> dict[str, Any]:
        """Every component by name; what is only ever given always has all of its fields."""
        for name, schema in self._schemas.items():
            if name not in self._inputs and "properties" in schema:
                schema["required"] = _always_given(self._classes[name], schema)
        return dict(sorted(self._schemas.items()))

    def _schema_of(self, type: Any) -> tuple[dict[str, Any], set[str]]:
        if type not in self._known:
            self._known[type] = self._write(type)
        return self._known[type]

    def _write(self, type: Any) -> tuple[dict[str, Any], set[str]]:
        classes = list(dict.fromkeys(_named_classes(type)))
        names = [readable_name(cls) for cls in classes]
        for name, cls in zip(names, classes, strict=True):
            other = self._classes.setdefault(name, cls)
            if other != cls:
                raise TypeError(f"{_origin(other)} and {_origin(cls)} would both be the schema {name}")
        (schema, *references), components = msgspec.json.schema_components(
            (type, *classes), ref_template=_REF + "{name}"
        )
        written = [reference["$ref"] for reference in references]
        renamed = {reference: _REF + name for reference, name in zip(written, names, strict=True)}
        for reference, name in zip(written, names, strict=True):
            component = _renamed(components[reference.removeprefix(_REF)], renamed)
            self._schemas[name] = {**component, "title": name}
        return _renamed(schema, renamed), set(names)


def readable_name(type: Any) -> str:
    """`AgentSummaryPage` for `Page[AgentSummary]`."""
    origin = get_origin(type)
    if origin is Annotated:
        return readable_name(get_args(type)[0])
    if origin in {Union, UnionType}:
        return "Or".join(map(readable_name, get_args(type)))
    if origin is not None:
        return "".join(map(readable_name, get_args(type))) + readable_name(origin)
    name = getattr(type, "__name__", None) or re.sub(r"\W", "", str(type))
    return name[:1].upper() + name[1:]


def _origin(cls: Any) -> str:
    return repr(cls) if get_origin(cls) else f"{cls.__module__}.{cls.__qualname__}"


def _named_classes(type: Any) -> Iterator[Any]:
    """The Structs, enums and the like that a type is made of, each of which becomes a component."""
    waiting: list[Any] = [inspect.type_info(type)]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, inspect.Type | inspect.Field):
            waiting += (getattr(node, name) for name in node.__struct_fields__)
            if hasattr(node, "cls") and not isinstance(node, inspect.CustomType):
                yield node.cls


def _renamed(schema: Any, references: dict[str, str]) -> Any:
    """A copy under our names; references are also the values of a discriminator's mapping."""
    if isinstance(schema, dict):
        return {key: _renamed(value, references) for key, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [_renamed(value, references) for value in schema]
    return references.get(schema, schema) if isinstance(schema, str) else schema


def _always_given(cls: Any, schema: dict[str, Any]) -> list[str]:
    required: list[str] = schema["required"]
    origin = get_origin(cls) or cls
    if not issubclass(origin, msgspec.Struct) or origin.__struct_config__.omit_defaults:
        return required
    may_be_missing = {
        field.encode_name for field in msgspec.structs.fields(cls) if field.default is msgspec.UNSET
    }
    return [name for name in schema["properties"] if name not in may_be_missing]


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """For a place where null cannot be written, such as a query string."""
    options = schema.get("anyOf")
    if options is None:
        return schema
    rest = [option for option in options if option != {"type": "null"}]
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest[0], **others} if len(rest) == 1 else {**others, "anyOf": rest}


def union_members(type: Any) -> Iterator[Any]:
    """The members of a union except None; any other type is its own only member."""
    if get_origin(type) in {Union, UnionType}:
        for member in get_args(type):
            yield from union_members(member)
    elif type is not None and type is not NoneType:
        yield type
