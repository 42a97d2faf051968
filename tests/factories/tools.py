"""Tools and their executions: made through the API, or straight into the database where time matters."""

from typing import Any

from retinue.kit.ids import new_id
from retinue.tools.models import AuthType, ExecutionStatus, Tool, ToolExecution, ToolType
from tests.client import Api, Response
from tests.factories.people import People


def tool_body(url: str = "http://127.0.0.1:9", **more: Any) -> dict[str, Any]:
    """A REST tool with one endpoint."""
    return {
        "name": "Weather",
        "category": "custom",
        "tool_type": "rest_api",
        "config": {"base_url": url, "endpoints": {"get": {"method": "GET", "path": "/echo"}}},
        "auth_type": "none",
        **more,
    }


def endpoint(path: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    """The `endpoints` of a tool that has one."""
    return {"only": {"method": method, "path": path, **more}}


async def make_tool(api: Api, url: str = "http://127.0.0.1:9", **more: Any) -> dict[str, Any]:
    answer = await api.post("/v1/tools", tool_body(url, **more))
    assert answer.status == 201, answer
    return answer.json()["data"]


async def change_tool(api: Api, tool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer = await api.put(f"/v1/tools/{tool['id']}", changes)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def run_tool(api: Api, tool: dict[str, Any], input: Any = None) -> dict[str, Any]:
    answer = await try_tool(api, tool, input)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def try_tool(api: Api, tool: dict[str, Any], input: Any = None, **more: Any) -> Response:
    return await api.post(
        f"/v1/tools/{tool['id']}/execute", {} if input is None else {"input": input}, **more
    )


async def executions_of(api: Api, tool: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = await api.get(f"/v1/tools/{tool['id']}/executions", query=query)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def remember_execution(people: People, tenant_id: str, tool_id: str, **more: Any) -> ToolExecution:
    """An execution of another time, without running anything."""
    chosen = {"status": ExecutionStatus.completed, "input": "{}", "output": "null", **more}
    async with people.context(tenant_id) as ctx:
        return await ctx.db.insert(ToolExecution(tool_id=tool_id, **{"executed_at": ctx.now, **chosen}))


def some_tool(created_by: str, name: str = "Tool") -> Tool:
    """A tool that calls nothing, because it is not configured."""
    return Tool(
        name=name,
        slug=new_id("tool").replace("_", "-"),
        category="custom",
        tool_type=ToolType.rest_api,
        config={},
        auth_type=AuthType.none,
        pinned_packages=[],
        created_by=created_by,
    )


def some_execution(tool: Tool, text: str = "") -> ToolExecution:
    return ToolExecution(
        tool_id=tool.id,
        status=ExecutionStatus.completed,
        input=f'{{"text": "{text}"}}',
        output="null",
        executed_at="2999-01-01T00:00:00.000000Z",
    )
