"""Tests of validation errors: every failing field at once, by its dotted name."""

import datetime as dt
import decimal
import enum
import uuid
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.schema.messages import PatternMessage
from retinue.kit.schema.validation import describe_validation_error, field_errors


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


class Bounds(msgspec.Struct):
    """Every kind of rule that msgspec knows, with what is said of a value that breaks it."""

    some: Annotated[list[int], Meta(min_length=1, max_length=2)] = []
    pair: tuple[int, str] = (1, "")
    named: Annotated[dict[str, int], Meta(max_length=1)] = {}
    size: Annotated[int, Meta(ge=1, le=10)] = 1
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    step: Annotated[int, Meta(multiple_of=5)] = 0
    when: dt.datetime | None = None
    zoned: Annotated[dt.datetime, Meta(tz=True)] | None = None
    day: dt.date | None = None
    hour: dt.time | None = None
    lasting: dt.timedelta | None = None
    id: uuid.UUID | None = None
    price: decimal.Decimal | None = None
    raw: bytes | None = None
    either: str | int | bool | None = None
    colours: dict[Colour, int] = {}
    roles: tuple[Colour, ...] = ()
    slug: Annotated[str, Meta(pattern="^[a-z]$"), PatternMessage("must be a letter")] = "a"
    text_or_list: Annotated[str, Meta(max_length=2)] | list[str] = ""


BROKEN = [
    ({"some": []}, "some", "must have at least 1 item"),
    ({"some": [1, 2, 3]}, "some", "must have at most 2 items"),
    ({"some": [1.5]}, "some.0", "must be a whole number"),
    ({"pair": [1]}, "pair", "must have exactly 2 items"),
    ({"named": {"a": 1, "b": 2}}, "named", "must have at most 1 entry"),
    ({"size": 0}, "size", "must be at least 1"),
    ({"size": 11}, "size", "must be at most 10"),
    ({"size": 10**30}, "size", "must be at most 10"),
    ({"share": 0}, "share", "must be more than 0"),
    ({"share": 1}, "share", "must be less than 1"),
    ({"share": "x"}, "share", "must be a number"),
    ({"step": 3}, "step", "must be a multiple of 5"),
    ({"when": "soon"}, "when", "must be a date and time such as 2026-11-15T08:30:00Z"),
    ({"zoned": "2026-11-15T08:30:00"}, "zoned", "must have a time zone, such as Z"),
    ({"day": "1.1."}, "day", "must be a date such as 2026-11-15"),
    ({"hour": "noon"}, "hour", "must be a time such as 08:30:00Z"),
    ({"lasting": "long"}, "lasting", "must be a duration such as PT15M"),
    ({"id": "x"}, "id", "must be a UUID"),
    ({"price": "x"}, "price", "must be a decimal number"),
    ({"raw": "\u00e9"}, "raw", "must be base64 text"),
    ({"either": []}, "either", "must be true or false, a whole number, text or null"),
    ({"colours": {"blue": 1}}, "colours.blue", "has a name that must be one of red, green"),
    ({"roles": ["red", "blue"]}, "roles.1", "must be one of red, green"),
    ({"slug": "AB"}, "slug", "must be a letter"),
    ({"text_or_list": "abc"}, "text_or_list", "must be at most 2 characters"),
    ({"text_or_list": ["a", 1]}, "text_or_list.1", "must be text"),
]


@pytest.mark.parametrize(("raw", "path", "message"), BROKEN, ids=range(len(BROKEN)))
def test_every_rule_speaks_in_sentences_for_people(raw, path, message) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(raw, Bounds)
    assert field_errors(raised.value, raw, Bounds) == {path: message}


def test_the_first_fault_of_a_long_list_names_its_choices() -> None:
    raw = ["red"] * 500 + ["blue"]
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(raw, list[Colour])
    assert field_errors(raised.value, raw, list[Colour]) == {"500": "must be one of red, green"}


def test_words_of_the_library_that_nobody_translated_are_not_shown() -> None:
    for message in ("Expected `frob`, or `x`", "Unknown thing `x` - at `$.a`"):
        assert describe_validation_error(msgspec.ValidationError(message))[1] == "is not valid"
    assert describe_validation_error(msgspec.ValidationError("Must be odd - at `$.a[3].b`")) == (
        "a.3.b",
        "must be odd",
    )


GOOD = {"title": "abc", "part": {"size": 1}}

CASES = [
    ({}, {"title": "is required", "part": "is required"}),
    ({"title": 1, "part": {}}, {"title": "must be text", "part.size": "is required"}),
    ({**GOOD, "title": "abcd"}, {"title": "must be at most 3 characters"}),
    (
        {**GOOD, "part": {"size": "x", "name": "Ü"}},
        {"part.size": "must be a whole number", "part.name": "does not have the required format"},
    ),
    ({**GOOD, "colour": "blue"}, {"colour": "must be one of red, green, null"}),
    ({**GOOD, "kind": "c"}, {"kind": "must be one of a, b"}),
    (
        {**GOOD, "parts": [{"size": 1}, {}, {"size": None}]},
        {"parts.1.size": "is required", "parts.2.size": "must be a whole number, not null"},
    ),
    ({**GOOD, "parts": {}}, {"parts": "must be a list"}),
    ({**GOOD, "words": {"a": "b"}}, {"words.a": "must be a whole number"}),
    ([], {"body": "must be an object"}),
    (None, {"body": "must be an object, not null"}),
]


@pytest.mark.parametrize(("raw", "expected"), CASES, ids=range(len(CASES)))
def test_every_failing_field_is_named(raw, expected) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(raw, Whole)
    assert field_errors(raised.value, raw, Whole) == expected
