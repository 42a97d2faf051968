"""What the contract tests know of tools."""

from retinue.tools.models import Tool
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


@CONTRACT.writes(tools=1)
async def import_openapi(scene: Scene) -> Call:
    document = {"openapi": "3.1.0", "info": {"title": "A"}, "paths": {"/a": {"get": {"responses": {}}}}}
    return Call(scene.me, {"document": document, "base_url": "https://api.example.com"})
