"""Structured answers on the wire, with servers that refuse what they do not know."""

from typing import Any

import pytest

from retinue.adapters.llm import ResponseSchema
from tests.adapters.llm_server import serve_and_connect, user

CITY = {"type": "object", "properties": {"city": {"type": "string", "minLength": 2}}, "required": ["city"]}
CLOSED = {**CITY, "properties": {"city": {"type": "string"}}, "additionalProperties": False}
NESTED = {
    "type": "object",
    "properties": {
        "visits": {"type": "array", "maxItems": 3, "minItems": 1, "items": {"$ref": "#/$defs/visit"}},
        "mail": {"oneOf": [{"type": "string", "format": "email", "pattern": "@"}, {"type": "null"}]},
    },
    "$defs": {"visit": CITY},
}
ANYTHING = {"type": "object"}
MAP = {"type": "object", "additionalProperties": {"type": "integer"}}


def request_schema(schema: dict[str, Any], model: str = "gpt-4o-mini") -> Any:
    return user("Where?", model=model, response_format=ResponseSchema("answer", schema))


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (CLOSED, True),
        (CITY, False),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "properties": {"city": {"type": "string", "maxLength": 5}}}, False),
        ({**CLOSED, "properties": {"city": CITY}}, False),
        ({**CLOSED, "properties": {"city": CLOSED}}, True),
        (NESTED, False),
    ],
)
async def test_openai_enforces_a_schema_that_keeps_its_rules(schema, is_strict):
    async with serve_and_connect("openai") as (server, provider):
        await provider.chat(request_schema(schema))
        sent = server.last.json["response_format"]["json_schema"]
        assert sent == {"name": "answer", "schema": schema, **({"strict": True} if is_strict else {})}


async def test_any_object_is_asked_for_in_words_as_well():
    async with serve_and_connect("openai") as (server, provider):
        await provider.chat(request_schema(ANYTHING))
        assert server.last.json["response_format"] == {"type": "json_object"}
        assert "one JSON object" in server.last.json["messages"][-1]["content"]


async def test_anthropic_is_sent_what_it_understands_of_a_schema():
    async with serve_and_connect("anthropic") as (server, provider):
        await provider.chat(request_schema(NESTED, "claude-sonnet-4-5"))
        sent = server.last.json
        assert sent["output_config"] == {
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": {
                        "visits": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/visit"}},
                        "mail": {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]},
                    },
                    "$defs": {
                        "visit": {
                            "type": "object",
                            "properties": {"city": {"type": "string"}},
                            "required": ["city"],
                            "additionalProperties": False,
                        }
                    },
                    "additionalProperties": False,
                },
            }
        }
        assert "JSON Schema" not in str(sent["messages"])


@pytest.mark.parametrize(
    "schema", [ANYTHING, MAP, {**CITY, "allOf": [MAP]}, {**CITY, "properties": {"a": MAP}}]
)
async def test_anthropic_reads_a_note_about_a_schema_that_it_cannot_express(schema):
    async with serve_and_connect("anthropic") as (server, provider):
        await provider.chat(request_schema(schema, "claude-sonnet-4-5"))
        assert "output_config" not in server.last.json
        assert "one JSON object" in server.last.json["messages"][-1]["content"][-1]["text"]
