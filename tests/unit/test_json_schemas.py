"""JSON Schema from users: bad ones are refused when written, good ones check in linear time."""

import functools
import time

import pytest

from retinue.kit.errors import Invalid
from retinue.kit.schema.json_schema import compile_schema


def nested_schema(levels: int) -> dict:
    schema: dict = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


def doubling_schema(keyword: str, times: int) -> dict:
    """Return a schema in which each definition refers to the next one twice."""
    parts = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {"$defs": {**parts, f"d{times}": {"type": "string"}}, "$ref": "#/$defs/d0"}


def chained_schema(times: int) -> dict:
    parts = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(times)}
    return {"$defs": {**parts, f"d{times}": {}}, "$ref": "#/$defs/d0"}


REFUSED = {
    "an unknown type": {"type": "nope"},
    "a reference to the web": {"$ref": "http://127.0.0.1:1/schema.json"},
    "a reference to a file": {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
    "a relative reference": {"items": [{"$ref": "other.json#/a"}]},
    "a dynamic reference elsewhere": {"$dynamicRef": "https://example.com/#x"},
    "a reference to nothing": {"$ref": "#/$defs/absent"},
    "an unknown dialect": {"$schema": "http://127.0.0.1:1/dialect"},
    "a pattern that looks ahead": {"pattern": "(?=a)b"},
    "a pattern that refers back": {"pattern": r"(a)\1"},
    "a pattern that is huge": {"pattern": "(a{1000}){1000}"},
    "too many levels": nested_schema(40),
    "references that double": doubling_schema("allOf", 40),
    "references that double as they are compiled": {
        "properties": {str(n): {"$ref": "#/$defs/d0", "unevaluatedProperties": False} for n in range(500)},
        "$defs": doubling_schema("anyOf", 8)["$defs"],
    },
    "an anchor of what doubles": {
        "$defs": {**doubling_schema("oneOf", 30)["$defs"], "a": {"$anchor": "a", "$ref": "#/$defs/d0"}},
        "$ref": "#a",
    },
    "a chain of references": chained_schema(1200),
    "references that begin anew": {"properties": {"a": {"$id": "https://example.com/a", "$ref": "#/b"}}},
    "too many bytes": {"description": "x" * 70_000},
}


@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED)
def test_a_schema_that_cannot_be_used_is_refused(schema) -> None:
    with pytest.raises(Invalid) as refused:
        compile_schema(schema, "input_schema")
    assert set(refused.value.details) == {"input_schema"}


def test_failures_are_named_by_their_path_and_do_not_repeat_the_value() -> None:
    schema = compile_schema(
        {
            "type": "object",
            "properties": {
                "address": {"type": "object", "required": ["city"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "size": {"enum": ["s", "m"]},
            },
            "required": ["name"],
        },
        "input_schema",
    )
    wrong = {"address": {}, "tags": ["a", 7], "size": "CANARY"}
    found = schema.errors(wrong, "input")
    assert found["input.name"] == "is required"
    assert found["input.address.city"] == "is required"
    assert set(found) == {"input.name", "input.address.city", "input.tags.1", "input.size"}
    assert "CANARY" not in str(found)
    assert schema.errors({"name": "x"}, "input") == {}


def test_a_pattern_that_explodes_elsewhere_is_linear_here() -> None:
    schema = compile_schema({"type": "string", "pattern": "^(a+)+$"}, "input_schema")
    assert schema.errors("a" * 100_000 + "b", "input")


def test_a_schema_may_refer_to_itself() -> None:
    schema = compile_schema(
        {
            "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}, "type": "object"}},
            "$ref": "#/$defs/n",
        },
        "input_schema",
    )
    value: dict = {}
    for _ in range(200):
        value = {"next": value}
    assert schema.errors(value, "input") == {}


def test_a_schema_that_is_nothing_but_itself_does_not_hang() -> None:
    schema = compile_schema({"$ref": "#"}, "input_schema")
    assert isinstance(schema.errors({"a": 1}, "input"), dict)


def test_many_failures_are_cut_off() -> None:
    schema = compile_schema({"items": {"type": "string"}}, "input_schema")
    assert len(schema.errors(list(range(1000)), "input")) == 20


RECURSIVE = {
    "anyOf": [
        {"properties": {"inner": {"$ref": "#"}}, "required": ["a"]},
        {"properties": {"inner": {"$ref": "#"}}, "required": ["b"]},
    ]
}
COSTLY = {
    "branches that meet again at every level": (
        RECURSIVE,
        functools.reduce(lambda v, _: {"inner": v}, range(30), {}),
    ),
    "a long list of choices": (
        {"items": {"enum": [f"{n:04d}" for n in range(8000)]}},
        ["none of them"] * 9000,
    ),
    "many conditions on many values": (
        {"items": {"allOf": [{"type": "string"}] * 3000}},
        [1] * 9000,
    ),
    "many patterns on a long text": (
        {"allOf": [{"pattern": f"(a|b|ab)*{n}$"} for n in range(1500)]},
        "ab" * 500_000,
    ),
}


@pytest.mark.parametrize(("schema", "value"), COSTLY.values(), ids=COSTLY)
def test_what_would_take_long_to_explain_is_refused_at_once(schema, value) -> None:
    compiled = compile_schema(schema, "input_schema")
    started = time.process_time()
    assert set(compiled.errors(value, "input")) == {"input"}
    assert time.process_time() - started < 1


def test_definitions_that_are_used_often_are_no_burden() -> None:
    text = {"type": "string", "maxLength": 100}
    point = {"properties": {name: {"$ref": "#/$defs/text"} for name in "abcdefghij"}}
    shape = {
        "properties": {"points": {"items": {"$ref": "#/$defs/point"}}, "inner": {"$ref": "#"}},
        "$defs": {"text": text, "point": point},
    }
    compiled = compile_schema(shape, "input_schema")
    points = [dict.fromkeys("abcdefghij", "x")] * 300
    assert compiled.errors({"points": points, "inner": {"points": points}}, "input") == {}
    assert set(compiled.errors({"points": [*points, {"a": 1}]}, "input")) == {"input.points.300.a"}
