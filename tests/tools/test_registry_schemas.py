"""T3: schemas from users are compiled when they are written, fetch nothing and cannot hang."""

import asyncio

import pytest

from tests.factories.tools import change_tool, make_tool, run_tool, tool_body, try_tool
from tests.kit.egress_listener import listening

pytestmark = pytest.mark.either_database


def nested_schema(depth: int) -> dict:
    schema: dict = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"x": schema}}
    return schema


@pytest.mark.parametrize("field", ["input_schema", "output_schema"])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"minimum": "zero"},
        {"properties": []},
        {"pattern": "("},
        {"$ref": "#/definitions/nowhere"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"x": {"allOf": [{"$ref": "https://example.com/x"}]}}},
        nested_schema(20),
        {"enum": ["x" * 70_000]},
    ],
)
async def test_a_schema_that_cannot_be_used_is_refused(admin, field, schema) -> None:
    answer = await admin.post("/v1/tools", tool_body(**{field: schema}))
    assert (answer.status, list(answer.details)) == (422, [field])
    tool = await make_tool(admin)
    answer = await admin.put(f"/v1/tools/{tool['id']}", {field: schema})
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_a_remote_reference_is_never_fetched(admin) -> None:
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") as canary:
        for name in ("$ref", "$dynamicRef", "$recursiveRef", "$schema"):
            schema = {name: f"{canary.url}/schema.json", "type": "object"}
            await admin.post("/v1/tools", tool_body(input_schema=schema))
        assert canary.connections == 0


async def test_a_pattern_that_would_hang_a_backtracking_engine_takes_no_time(admin, remote) -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}
    tool = await make_tool(admin, remote.url, input_schema=schema)
    async with asyncio.timeout(2):
        answer = await try_tool(admin, tool, {"x": "a" * 30_000 + "!"})
    assert (answer.status, list(answer.details)) == (422, ["input.x"])


async def test_input_is_checked_before_anything_is_called(admin, remote) -> None:
    schema = {
        "type": "object",
        "required": ["city"],
        "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"maximum": 7}}},
        "additionalProperties": False,
    }
    tool = await make_tool(admin, remote.url, input_schema=schema)
    answer = await try_tool(admin, tool, {"days": [1, 99]})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert set(answer.details) == {"input.city", "input.days.1"}
    assert (await try_tool(admin, tool)).details == {"input.city": "is required"}
    assert "hunter2" not in str((await try_tool(admin, tool, {"city": "x", "more": "hunter2"})).details)
    assert remote.seen == []
    assert (await admin.get(f"/v1/tools/{tool['id']}/executions")).json()["data"] == []
    assert (await run_tool(admin, tool, {"city": "Rome"}))["status"] == "completed"


async def test_a_changed_schema_counts_at_once(admin, remote) -> None:
    tool = await make_tool(admin, remote.url, input_schema={"required": ["a"]})
    assert (await try_tool(admin, tool)).status == 422
    await change_tool(admin, tool, input_schema={"required": ["b"]})
    assert (await try_tool(admin, tool)).details == {"input.b": "is required"}


async def test_output_that_is_not_as_declared_fails_the_run(admin, remote) -> None:
    schema = {"properties": {"body": {"required": ["temperature"]}}}
    tool = await make_tool(admin, remote.url, output_schema=schema)
    ended = await run_tool(admin, tool)
    assert ended["status"] == "failed"
    assert ended["error"]["code"] == "invalid_output"
    assert ended["error"]["details"] == {"output.body.temperature": "is required"}
    assert "output" not in ended
