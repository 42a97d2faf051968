"""Tests that validation messages are sentences for people, on every field of every route."""

import re
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlencode

import msgspec
import pytest

from retinue.kit.errors import Invalid
from retinue.kit.http import request_content
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route
from tests.contract.routes import ROUTES, label

WITH_BODY = [route for route in ROUTES if route.body is not None]
WITH_QUERY = [route for route in ROUTES if route.query is not None]

# The library's way of speaking: backticks, paths, and the names of its types.
FOREIGN = re.compile(r"`|\$\.|\$\[|[Ee]xpected|\b(str|int|bool|dict|NoneType|array|enum|regex|struct)\b")
WRONG = (
    None, True, False, -(10**15), 10**15, 10**40, 1.5, -0.1, "", " ", "x", "\x00", "no such choice",
    "é" * 100_001, [], [None], [1, "x", {}], ["x"] * 1001, {}, {"x": None}, {"x": 1, "": "y"},
    {f"k{n}": n for n in range(200)},
)  # fmt: skip
MAX_DEPTH = 3


def shapes_in(annotation: Any) -> Iterator[Any]:
    """The types that a value may be, without what may be left out."""
    origin = get_origin(annotation)
    if origin is typing.Annotated:
        yield from shapes_in(get_args(annotation)[0])
    elif origin in {typing.Union, types.UnionType}:
        for arm in get_args(annotation):
            yield from shapes_in(arm)
    else:
        yield annotation


def broken(annotation: Any, depth: int = 0) -> Iterator[Any]:
    """Values of which most are wrong: of every kind for the whole, and for each place inside it."""
    yield from WRONG
    for shape in shapes_in(annotation):
        if depth < MAX_DEPTH and isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            for field in msgspec.structs.fields(shape):
                yield from ({field.encode_name: value} for value in broken(field.type, depth + 1))
        if depth < MAX_DEPTH and get_origin(shape) in {list, tuple, set, frozenset}:
            yield from ([value] for value in broken(get_args(shape)[0], depth + 1))
            yield [*["x"] * 150, None]
        if depth < MAX_DEPTH and get_origin(shape) is dict:
            yield from ({"key": value} for value in broken(get_args(shape)[1], depth + 1))


def choices_of(annotation: Any) -> list[str]:
    found: list[str] = []
    for shape in shapes_in(annotation):
        if isinstance(shape, type) and issubclass(shape, Enum):
            found += [str(member.value) for member in shape]
        elif get_origin(shape) is Literal:
            found += [str(value) for value in get_args(shape)]
    return found


def body_faults(route: Route, raw: Any) -> dict[str, str]:
    try:
        request_content.decode_body(route, msgspec.json.encode(raw))
    except Invalid as error:
        return dict(error.details or {})
    return {}


def query_faults(route: Route, raw: dict[str, str]) -> dict[str, str]:
    scope = {"method": "GET", "path": route.path, "query_string": urlencode(raw).encode(), "headers": []}
    try:
        request_content.decode_query(Request(scope, None, ()), route.query)
    except Invalid as error:
        return dict(error.details or {})
    return {}


def assert_for_people(faults: dict[str, str], raw: Any) -> None:
    for name, message in faults.items():
        assert not FOREIGN.search(message), (name, message, str(raw)[:200])
        assert message[:1].islower(), (name, message)
        assert "..." not in name, name


@pytest.mark.parametrize("route", WITH_BODY, ids=label)
def test_what_is_wrong_with_a_body_is_said_in_sentences(route: Route) -> None:
    seen = 0
    for raw in broken(route.body):
        faults = body_faults(route, raw)
        assert_for_people(faults, raw)
        seen += len(faults)
    assert seen, "nothing that was sent is refused"


@pytest.mark.parametrize("route", WITH_BODY, ids=label)
def test_an_unknown_choice_is_answered_with_the_choices(route: Route) -> None:
    for shape in shapes_in(route.body):
        if not (isinstance(shape, type) and issubclass(shape, msgspec.Struct)):
            continue
        for field in msgspec.structs.fields(shape):
            choices = choices_of(field.type)
            if choices and list(shapes_in(field.type)) != [str]:
                faults = body_faults(route, {field.encode_name: "no such choice"})
                said = faults.get(field.encode_name, "")
                assert all(choice in said for choice in choices), (field.encode_name, said)


@pytest.mark.parametrize("route", WITH_QUERY, ids=label)
def test_what_is_wrong_with_a_query_is_said_in_sentences(route: Route) -> None:
    for field in msgspec.structs.fields(route.query):
        for value in ("", "x", "-1", "0", "1.5", "null", "9" * 40, "é" * 5000):
            assert_for_people(query_faults(route, {field.encode_name: value}), value)
