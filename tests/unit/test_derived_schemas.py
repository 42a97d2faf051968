"""Schemas that take their fields from one declaration: types, defaults and order of each view."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import NODEFAULT, UNSET, Meta, UnsetType

from retinue.kit.schema.base import Schema
from retinue.kit.schema.derived import (
    View,
    as_declared,
    declared_fields,
    fields_of,
    in_changes,
    in_records,
    in_requests,
    in_responses,
    in_some_responses,
    without_constraints,
)

Short = Annotated[str, Meta(max_length=3)]
Few = Annotated[list[Short], Meta(max_length=2)]


class Speed(StrEnum):
    slow = "slow"
    fast = "fast"


class Base(Schema, kw_only=True):
    id: str = ""


class Engine(Base, kw_only=True):
    note: Short = ""
    name: Short
    parts: Few = []
    limit: Annotated[int, Meta(ge=1)] | None = 7
    speed: Annotated[Speed, "of the database"] = Speed.slow


def shape_of(view: View, **defaults: Any) -> Any:
    @fields_of(Engine, view, **defaults)
    class Derived(Schema, kw_only=True):
        """Taken from an engine."""

    return Derived


def test_only_what_a_class_adds_to_its_base_is_declared() -> None:
    assert [field.name for field in declared_fields(Engine)] == ["note", "name", "parts", "limit", "speed"]


def test_a_request_has_required_fields_first_and_takes_null_for_an_empty_text_or_list() -> None:
    request = shape_of(in_requests)
    assert request.__struct_fields__ == ("name", "note", "parts", "limit", "speed")
    sent = msgspec.convert({"name": "abc", "note": None, "parts": None}, request)
    assert (sent.name, sent.note, sent.parts, sent.limit, sent.speed) == ("abc", None, None, UNSET, UNSET)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"name": "abcd"},
        {"name": "a", "parts": ["abcd"]},
        {"name": "a", "limit": 0},
        {"name": "a", "speed": None},
    ],
)
def test_a_request_keeps_the_constraints(sent: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(sent, shape_of(in_requests))


def test_every_field_of_a_change_may_be_omitted() -> None:
    @fields_of(shape_of(in_requests), in_changes)
    class Changes(Schema, kw_only=True):
        pass

    assert Changes.__struct_fields__ == ("name", "note", "parts", "limit", "speed")
    assert msgspec.to_builtins(msgspec.convert({}, Changes)) == {}
    assert msgspec.to_builtins(msgspec.convert({"note": None}, Changes)) == {"note": None}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"name": None}, Changes)


def test_a_response_has_every_field_in_the_declared_order_and_no_constraints() -> None:
    response = shape_of(in_responses)
    assert response.__struct_fields__ == ("note", "name", "parts", "limit", "speed")
    assert response(note="long enough", name="n", parts=["a"] * 9, limit=0, speed=Speed.fast).limit == 0
    assert msgspec.convert(
        {"note": "long enough", "name": "", "parts": ["abcd"], "limit": 0, "speed": "fast"}, response
    )
    with pytest.raises(TypeError):
        response(name="n")


def test_a_response_that_has_the_fields_only_sometimes_leaves_them_out() -> None:
    assert msgspec.to_builtins(shape_of(in_some_responses)(limit=None)) == {"limit": None}


def test_an_older_record_takes_the_defaults() -> None:
    read = msgspec.convert({"name": "long enough"}, shape_of(in_records))
    assert (read.note, read.parts, read.limit, read.speed) == ("", [], 7, Speed.slow)


def test_a_list_is_not_shared() -> None:
    shape = shape_of(as_declared)
    shape(name="a").parts.append("b")
    assert shape(name="a").parts == []


def test_a_default_may_be_replaced_or_removed() -> None:
    assert shape_of(as_declared, limit=None)(name="a").limit is None
    with pytest.raises(TypeError):
        shape_of(as_declared, limit=NODEFAULT)(name="a")


def test_own_fields_come_first_and_stay_as_they_are() -> None:
    @fields_of(Engine, in_changes)
    class Derived(Base, kw_only=True, forbid_unknown_fields=True):
        """Has more."""

        limit: str = "none"

        def shown(self) -> str:
            return self.limit

    class Lower(Derived, kw_only=True):
        more: int = 0

    assert Lower.__struct_fields__ == ("id", "limit", "note", "name", "parts", "speed", "more")
    assert (Lower().shown(), Derived.__doc__, Derived.__module__) == ("none", "Has more.", __name__)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"unknown": 1}, Derived)


@pytest.mark.parametrize(
    ("annotation", "plain"),
    [
        (Short, str),
        (Few, list[str]),
        (Few | None, list[str] | None),
        (Short | UnsetType | None, str | UnsetType | None),
        (dict[Short, Few], dict[str, list[str]]),
        (tuple[Short, ...], tuple[str, ...]),
        (Literal["a", "b"], Literal["a", "b"]),
        (Annotated[Literal["a"] | None, "x"], Literal["a"] | None),
        (Any, Any),
    ],
)
def test_constraints_are_removed_at_any_depth(annotation: Any, plain: Any) -> None:
    assert without_constraints(annotation) == plain
