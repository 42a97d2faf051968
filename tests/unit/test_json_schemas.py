"""JSON Schema from users: bad ones are refused when written, good ones check in linear time."""

import pytest

from retinue.kit.errors import Invalid
from retinue.kit.json_schemas import compile_schema


def nested(levels: int) -> dict:
    schema: dict = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


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
    "too many levels": nested(40),
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
