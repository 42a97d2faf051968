"""Tests of arguments of an MCP tool that are sent as headers, and of their encoding."""

import pytest

from retinue.adapters.mcp.argument_headers import header_value, mirrored_arguments, mirrored_headers


def marked_property(**more):
    return {"type": "string", "x-mcp-header": "Region", **more}


def object_schema(**properties):
    return {"type": "object", "properties": properties}


def test_marked_properties_are_found_at_their_paths():
    schema = object_schema(
        region=marked_property(),
        where=object_schema(zone=marked_property(type="integer", **{"x-mcp-header": "Zone"})),
        other={"type": "string"},
    )
    assert mirrored_arguments(schema) == {("region",): "Region", ("where", "zone"): "Zone"}


@pytest.mark.parametrize(
    "schema",
    [
        object_schema(a={"default": {"x-mcp-header": "A"}, "enum": [{"x-mcp-header": "B"}]}),
        object_schema(**{"x-mcp-header": {"type": "string"}}),
        {},
    ],
)
def test_what_only_looks_like_a_mark_is_none(schema):
    assert mirrored_arguments(schema) == {}


@pytest.mark.parametrize(
    "schema",
    [
        marked_property(),
        object_schema(a=marked_property(type="number")),
        object_schema(a=marked_property(type=["string", "null"])),
        object_schema(a=marked_property(**{"x-mcp-header": ""})),
        object_schema(a=marked_property(**{"x-mcp-header": "a b"})),
        object_schema(a=marked_property(**{"x-mcp-header": "a\r\nb"})),
        object_schema(a=marked_property(**{"x-mcp-header": 5})),
        object_schema(a=marked_property(), b=marked_property(**{"x-mcp-header": "rEGION"})),
        object_schema(a={"type": "array", "items": marked_property()}),
        {"anyOf": [object_schema(a=marked_property())]},
        {"$defs": {"a": marked_property()}},
        {"if": object_schema(a=marked_property())},
    ],
)
def test_a_mark_where_none_may_be_spoils_the_tool(schema):
    assert mirrored_arguments(schema) is None


def test_values_are_written_as_the_protocol_says():
    marks = {("a",): "A", ("b",): "B", ("c",): "C", ("d", "e"): "E", ("f",): "F", ("g",): "G"}
    arguments = {"a": "x", "b": True, "c": -7, "d": "not an object", "f": None, "g": ["list"]}
    assert mirrored_headers(marks, arguments) == {
        "Mcp-Param-A": "x",
        "Mcp-Param-B": "true",
        "Mcp-Param-C": "-7",
    }


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("us-west1", "us-west1"),
        ("a b", "a b"),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("\ud800", "=?base64?Pw==?="),
    ],
)
def test_text_that_no_header_can_hold_is_encoded(text, written):
    assert header_value(text) == written
