"""Every failing field at once, by its dotted name."""

import enum
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.validation import field_errors


class Colour(enum.StrEnum):
    red = "red"
    green = "green"


class Part(msgspec.Struct):
    size: int
    name: Annotated[str, Meta(min_length=1, pattern="^[a-z]+$")] = "x"


class Whole(msgspec.Struct):
    title: Annotated[str, Meta(max_length=3)]
    part: Part
    colour: Colour | None = None
    kind: Literal["a", "b"] | UnsetType = UNSET
    parts: list[Part] = []
    words: dict[str, int] = {}


GOOD = {"title": "abc", "part": {"size": 1}}

CASES = [
    ({}, {"title": "is required", "part": "is required"}),
    ({"title": 1, "part": {}}, {"title": "expected `str`, got `int`", "part.size": "is required"}),
    ({**GOOD, "title": "abcd"}, {"title": "expected `str` of length <= 3"}),
    (
        {**GOOD, "part": {"size": "x", "name": "Ü"}},
        {"part.size": "expected `int`, got `str`", "part.name": "does not have the right form"},
    ),
    ({**GOOD, "colour": "blue"}, {"colour": "must be one of red, green"}),
    ({**GOOD, "kind": "c"}, {"kind": "must be one of a, b"}),
    (
        {**GOOD, "parts": [{"size": 1}, {}, {"size": None}]},
        {"parts.1.size": "is required", "parts.2.size": "expected `int`, got `null`"},
    ),
    ({**GOOD, "parts": {}}, {"parts": "expected `array`, got `object`"}),
    ({**GOOD, "words": {"a": "b"}}, {"words": "expected `int`, got `str`"}),
    ([], {"body": "expected `object`, got `array`"}),
    (None, {"body": "expected `object`, got `null`"}),
]


@pytest.mark.parametrize(("raw", "expected"), CASES, ids=range(len(CASES)))
def test_every_failing_field_is_named(raw, expected) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(raw, Whole)
    assert field_errors(raised.value, raw, Whole) == expected
