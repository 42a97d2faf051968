"""Schemas that take their fields from one declaration.

    @fields_of(AgentFields, in_changes)
    class AgentChanges(Schema, kw_only=True):
        '''Fields of an agent to change.'''

A view says how the fields are shown. They come after those that the class itself has, which stay as they are;
mypy knows only the latter.
"""

import functools
import operator
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType

S = TypeVar("S", bound=msgspec.Struct)
_UNIONS = (Union, types.UnionType)


class DeclaredField(msgspec.Struct, frozen=True):
    name: str
    type: Any
    default: Any

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT

    @property
    def is_emptied_by_null(self) -> bool:
        """Whether null in a request stands for the default, an empty text or list."""
        return self.default in ("", [])

    def having(self, type: Any, default: Any) -> "DeclaredField":
        return DeclaredField(self.name, type, default)


Fields = list[DeclaredField]
View = Callable[[Fields], Fields]


def fields_of(declaration: type[msgspec.Struct], view: View, **defaults: Any) -> Callable[[type[S]], type[S]]:
    """Give a class the declared fields as the view shows them; `defaults` replaces some of its defaults."""

    def derive(shape: type[S]) -> type[S]:
        own = shape.__struct_fields__
        fields = [
            (field.name, field.type, default)
            if (default := defaults.get(field.name, field.default)) is not NODEFAULT
            else (field.name, field.type)
            for field in view(declared_fields(declaration))
            if field.name not in own
        ]
        derived: Any = msgspec.defstruct(
            shape.__name__,
            fields,
            bases=(shape,),
            module=shape.__module__,
            namespace={"__doc__": shape.__doc__},
            kw_only=True,
        )
        return typing.cast("type[S]", derived)

    return derive


def declared_fields(declaration: type[msgspec.Struct]) -> Fields:
    """Return the fields that a class adds to those of its base; for a derived one, those that it derives."""
    inherited = getattr(declaration.__base__, "__struct_fields__", ())
    return [
        DeclaredField(
            field.name,
            field.type,
            field.default if field.default_factory is NODEFAULT else field.default_factory(),
        )
        for field in msgspec.structs.fields(declaration)
        if field.name not in inherited
    ]


def as_declared(fields: Fields) -> Fields:
    """As they are, such as in a file that is read as well."""
    return fields


def in_requests(fields: Fields) -> Fields:
    """Required fields first; any other one may be omitted, and null empties a text or a list."""
    required = [field for field in fields if field.is_required]
    return required + [_omittable(field) for field in fields if not field.is_required]


def _omittable(field: DeclaredField) -> DeclaredField:
    type_ = field.type | None if field.is_emptied_by_null else field.type
    return field.having(type_ | UnsetType, UNSET)


def in_changes(fields: Fields) -> Fields:
    """Any field may be omitted."""
    return [field.having(field.type | UnsetType, UNSET) for field in fields]


def in_responses(fields: Fields) -> Fields:
    """Without constraints and always present."""
    return [field.having(without_constraints(field.type), NODEFAULT) for field in fields]


def in_some_responses(fields: Fields) -> Fields:
    """Without constraints, and absent if not set."""
    return [field.having(without_constraints(field.type) | UnsetType, UNSET) for field in fields]


def in_records(fields: Fields) -> Fields:
    """Without constraints; those that an older record does not have take their defaults."""
    return [field.having(without_constraints(field.type), field.default) for field in fields]


def without_constraints(annotation: Any) -> Any:
    """Return the type without what `Annotated` adds to it, at any depth."""
    return map_type(annotation, lambda plain: plain)


def map_type(annotation: Any, change: Callable[[Any], Any]) -> Any:
    """Return the type without what `Annotated` adds to it, with `change` applied to each type in it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return map_type(inner[0], change)
    if not inner or origin is Literal:
        return change(annotation)
    changed = [map_type(each, change) for each in inner]
    return functools.reduce(operator.or_, changed) if origin in _UNIONS else origin[*changed]
