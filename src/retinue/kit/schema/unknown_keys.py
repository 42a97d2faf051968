"""Finds the keys of a JSON value that its declared type does not have, at any depth with declared fields.

Objects without declared fields (`dict`, `Any`, raw JSON) are free and have no unknown keys. A value is walked
only where a declared object can be, so a type without nested objects costs one comparison of names.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

MAX_UNKNOWN_KEYS = 20
_MAX_NAME_LENGTH = 64
_NONE: tuple[str, ...] = ()

Find = Callable[[Any, str, list[str]], None]
"""Appends the paths of the unknown keys of a valid value, which is at the given path."""
_OBJECTS = (inspect.StructType, inspect.TypedDictType, inspect.DataclassType)
_LISTS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)

_decode_names = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class DeclaredKeys(msgspec.Struct, frozen=True):
    """The keys of an object type, and how to look into those of its values that are objects themselves."""

    known: frozenset[str]
    nested: Mapping[str, Find]

    def find(self, value: Any, path: str, unknown: list[str]) -> None:
        if type(value) is not dict:
            return
        if not self.known.issuperset(value):
            unknown += [join_path(path, name) for name in value if name not in self.known]
        for name, find in self.nested.items():
            if name in value:
                find(value[name], join_path(path, name), unknown)

    def find_in_json(self, body: bytes) -> Sequence[str]:
        """Return the unknown keys of a valid JSON object; values that cannot have any are not decoded."""
        sent = _decode_names(body)
        found: list[str] | None = None
        if not self.known.issuperset(sent):
            found = [join_path("", name) for name in sent if name not in self.known]
        for name in self.nested:
            if name in sent:
                found = found or []
                self.nested[name](msgspec.json.decode(sent[name]), name, found)
        return found[:MAX_UNKNOWN_KEYS] if found else _NONE


def join_path(path: str, name: str) -> str:
    name = name[:_MAX_NAME_LENGTH]
    return f"{path}.{name}" if path else name


def find_unknown_keys(value: Any, shape: Any, path: str = "") -> list[str]:
    """Return the paths of the first unknown keys of a value that is valid for the type."""
    found: list[str] = []
    find = finder_for(shape)
    if find is not None:
        find(value, path, found)
    return found[:MAX_UNKNOWN_KEYS]


@functools.cache
def json_finder_for(shape: Any) -> Callable[[bytes], Sequence[str]]:
    """Return what finds the first unknown keys of a JSON document that is valid for the type."""
    find = finder_for(shape)
    if find is None:
        return lambda _: _NONE
    declared = getattr(find, "__self__", None)
    if isinstance(declared, DeclaredKeys):
        return declared.find_in_json
    return lambda body: find_unknown_keys(msgspec.json.decode(body), shape)


@functools.cache
def finder_for(shape: Any) -> Find | None:
    """Return what finds the unknown keys of a type; None if it has no declared fields."""
    return _Compiler().compile(inspect.type_info(shape))


class _Compiler:
    """Compiles one type; a type that contains itself finds its own finder."""

    def __init__(self) -> None:
        self._declared: dict[Any, DeclaredKeys] = {}

    def compile(self, type_: inspect.Type) -> Find | None:
        if isinstance(type_, inspect.Metadata):
            return self.compile(type_.type)
        if isinstance(type_, _OBJECTS):
            return self._object(type_)
        if isinstance(type_, _LISTS):
            return _each_item(self.compile(type_.item_type))
        if isinstance(type_, inspect.DictType):
            return _each_value(self.compile(type_.value_type))
        if isinstance(type_, inspect.UnionType):
            return self._union(type_)
        return None

    def _object(self, type_: Any) -> Find | None:
        if getattr(type_, "array_like", False):
            return None
        if type_.cls not in self._declared:
            nested: dict[str, Find] = {}
            known = frozenset(field.encode_name for field in type_.fields)
            if getattr(type_, "tag_field", None):
                known |= {type_.tag_field}
            # Registered before its fields are compiled, for a type that contains itself.
            self._declared[type_.cls] = DeclaredKeys(known, nested)
            for field in type_.fields:
                find = self.compile(field.type)
                if find is not None:
                    nested[field.encode_name] = find
        return self._declared[type_.cls].find

    def _union(self, union: inspect.UnionType) -> Find | None:
        """Choose by the JSON type, and among tagged structs by the tag, as the decoder does."""
        by_tag: dict[Any, Find] = {}
        tag_field = ""
        of_object: Find | None = None
        of_list: Find | None = None
        for member in union.types:
            arm = member.type if isinstance(member, inspect.Metadata) else member
            find = self.compile(arm)
            if find is None:
                continue
            if isinstance(arm, inspect.StructType) and arm.tag_field:
                tag_field = arm.tag_field
                by_tag[arm.tag] = find
            elif isinstance(arm, (*_OBJECTS, inspect.DictType)):
                of_object = find
            else:
                of_list = find
        if not (by_tag or of_object or of_list):
            return None
        return _either(of_object, of_list, tag_field, by_tag)


def _either(of_object: Find | None, of_list: Find | None, tag_field: str, by_tag: dict[Any, Find]) -> Find:
    def find(value: Any, path: str, unknown: list[str]) -> None:
        chosen: Find | None = None
        if type(value) is dict:
            chosen = by_tag.get(value.get(tag_field)) if by_tag else of_object
        elif type(value) is list:
            chosen = of_list
        if chosen is not None:
            chosen(value, path, unknown)

    return find


def _each_item(inner: Find | None) -> Find | None:
    if inner is None:
        return None

    def find(value: Any, path: str, unknown: list[str]) -> None:
        if type(value) is list:
            for position, item in enumerate(value):
                inner(item, f"{path}.{position}" if path else str(position), unknown)

    return find


def _each_value(inner: Find | None) -> Find | None:
    if inner is None:
        return None

    def find(value: Any, path: str, unknown: list[str]) -> None:
        if type(value) is dict:
            for name, item in value.items():
                inner(item, join_path(path, name), unknown)

    return find


@functools.cache
def _type_info(shape: Any) -> inspect.Type:
    return inspect.type_info(shape)


def declares_path(shape: Any, path: str) -> bool:
    """Return whether a type declares a field at a path; a key of a free object is not declared."""
    return _declares(_type_info(shape), path.split("."))


def _declares(type_: inspect.Type, names: Sequence[str]) -> bool:
    if isinstance(type_, inspect.Metadata):
        return _declares(type_.type, names)
    if isinstance(type_, inspect.UnionType):
        return any(_declares(arm, names) for arm in type_.types)
    if isinstance(type_, _OBJECTS):
        field = next((field for field in type_.fields if field.encode_name == names[0]), None)
        return field is not None and (len(names) == 1 or _declares(field.type, names[1:]))
    if len(names) == 1:
        return False
    if isinstance(type_, _LISTS):
        return _declares(type_.item_type, names[1:])
    return isinstance(type_, inspect.DictType) and _declares(type_.value_type, names[1:])


def find_unknown_keys_by_schema(value: Any, schema: Mapping[str, Any], path: str = "") -> list[str]:
    """Return the paths of the first keys that a JSON Schema does not name; a plain `object` is free."""
    found: list[str] = []
    _find_by_schema(value, schema, path, found)
    return found[:MAX_UNKNOWN_KEYS]


def _find_by_schema(value: Any, schema: Mapping[str, Any], path: str, unknown: list[str]) -> None:
    if type(value) is list and "items" in schema:
        for position, item in enumerate(value):
            _find_by_schema(item, schema["items"], f"{path}.{position}", unknown)
    elif type(value) is dict and "properties" in schema:
        properties = schema["properties"]
        for name, inner in value.items():
            if name not in properties:
                unknown.append(join_path(path, name))
            else:
                _find_by_schema(inner, properties[name], join_path(path, name), unknown)
