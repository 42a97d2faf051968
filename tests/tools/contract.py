"""Objects and calls of tools for the contract tests."""

from retinue.tools.models import Tool, ToolType
from tests.adapters.llm_server import refusing
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.tools import some_execution, some_tool


async def _make(world: World) -> dict[str, str]:
    tool = await world.ctx.db.insert(some_tool(world.owner.id, world.name))
    execution = await world.ctx.db.insert(some_execution(tool, world.name))
    return {"tool_id": tool.id, "execution_id": execution.id}


CONTRACT = DomainContract(records=(Tool,), make=_make)


async def _tool(scene: Scene) -> dict[str, str]:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return {"tool_id": (await ctx.db.insert(some_tool(scene.user.id))).id}


_NEW_TOOL = {"name": "New", "category": "crm", "tool_type": "rest_api", "config": {}, "auth_type": "none"}


@CONTRACT.writes(tools=1)
async def create_tool(scene: Scene) -> Call:
    return Call(scene.me, _NEW_TOOL)


@CONTRACT.writes("tools.name tools.config tools.updated_at")
async def update_tool(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "config": {"timeout_ms": 1}}, await _tool(scene))


@CONTRACT.writes("tools.usage_count tools.last_used_at")
async def execute_tool(scene: Scene) -> Call:
    return Call(scene.me, {"input": {"city": "Rome"}}, await _tool(scene))


@CONTRACT.writes()
async def try_tool(scene: Scene) -> Call:
    config = {"base_url": scene.provider.url, "endpoints": {"only": {"method": "GET", "path": "/a"}}}
    return Call(scene.me, {"tool_type": "rest_api", "config": config, "input": {}})


@CONTRACT.writes(tools=1)
async def import_openapi(scene: Scene) -> Call:
    document = {"openapi": "3.1.0", "info": {"title": "A"}, "paths": {"/a": {"get": {"responses": {}}}}}
    return Call(scene.me, {"document": document, "base_url": "https://api.example.com"})


def _lists(scene: Scene, *names: str) -> str:
    """Let the one server of the scene answer as an MCP server, once; returns its address."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    results = {1: {"supportedVersions": ["2026-07-28"], "capabilities": {}}, 2: {"tools": tools}}
    for id, result in results.items():
        body = {"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", **result}}
        scene.provider.fails(refusing(200, body, Content_Type="application/json"))
    return f"{scene.provider.url}/mcp"


@CONTRACT.writes(tools=1)
async def import_mcp(scene: Scene) -> Call:
    return Call(scene.me, {"server_url": _lists(scene, "a")})


@CONTRACT.writes("tools.held_listing tools.updated_at")
async def refresh_tool(scene: Scene) -> Call:
    functions = {"a": {"input_schema": {"type": "object"}}}
    config = {"kind": "mcp", "server_url": _lists(scene, "a", "b"), "functions": functions}
    async with scene.people.context(scene.user.tenant_id) as ctx:
        tool = some_tool(scene.user.id)
        tool.tool_type, tool.config = ToolType.custom, config
        return Call(scene.me, {"accept": False}, {"tool_id": (await ctx.db.insert(tool)).id})
