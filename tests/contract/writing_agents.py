"""How the routes of agents that take a body are called so that they succeed, and what that may change."""

from tests.contract.agent_world import Household, some_agent, some_household
from tests.contract.world import some_tool
from tests.contract.writing import Call, Scene, writes

_VERSION = "agents.version agents.updated_at"
_NEW = {"name": "New", "primary_model": "any/model", "system_prompt": "Be kind."}


async def _household(scene: Scene) -> Household:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_household(ctx, await ctx.db.insert(some_tool(scene.me)))


async def _agent(scene: Scene) -> str:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return (await some_agent(ctx)).id


@writes(agents=1, agent_versions=1)
async def create_agent(scene: Scene) -> Call:
    return Call(scene.me, _NEW)


@writes(f"agents.name agents.temperature {_VERSION}", agent_versions=1)
async def update_agent(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "temperature": 0.1}, {"agent_id": await _agent(scene)})


@writes(f"agents.name {_VERSION}", agents=1, agent_versions=2)
async def change_many_agents(scene: Scene) -> Call:
    renamed = {"op": "update", "id": await _agent(scene), "data": {"name": "Renamed"}}
    return Call(scene.me, {"operations": [{"op": "create", "data": _NEW}, renamed]})


@writes(f"agents.tool_count {_VERSION}", agent_tools=1, agent_versions=1)
async def attach_tool(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        tool = await ctx.db.insert(some_tool(scene.me))
    body = {"tool_id": tool.id, "config_override": {"timeout_ms": 5}}
    return Call(scene.me, body, {"agent_id": await _agent(scene)})


@writes(f"agent_tools.is_enabled agent_tools.updated_at {_VERSION}", agent_versions=1)
async def update_agent_tool(scene: Scene) -> Call:
    found = await _household(scene)
    return Call(scene.me, {"is_enabled": False}, {"agent_id": found.agent.id, "tool_id": found.tool.id})


@writes(f"agents.sub_agent_count {_VERSION}", sub_agents=1, agent_versions=1)
async def attach_sub_agent(scene: Scene) -> Call:
    body = {"agent_id": await _agent(scene), "delegation_prompt": "Ask it."}
    return Call(scene.me, body, {"agent_id": await _agent(scene)})


@writes(f"agents.sub_agent_count {_VERSION}", agents=1, sub_agents=1, agent_versions=1)
async def create_direct_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {**_NEW, "delegation_prompt": "Ask it."}, {"agent_id": await _agent(scene)})


def _below(found: Household) -> dict[str, str]:
    return {"agent_id": found.agent.id, "sub_agent_id": found.sub_agent.id}


@writes(f"agents.name sub_agents.is_enabled sub_agents.updated_at {_VERSION}", agent_versions=1)
async def update_direct_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "is_enabled": False}, _below(await _household(scene)))


@writes(f"sub_agents.delegation_prompt sub_agents.updated_at {_VERSION}", agent_versions=1)
async def update_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {"delegation_prompt": "Ask it."}, _below(await _household(scene)))


@writes(f"agents.web_search {_VERSION}", agent_versions=1)
async def update_web_search(scene: Scene) -> Call:
    return Call(scene.me, {"max_results": 7}, {"agent_id": await _agent(scene)})


def _document(found: Household) -> dict[str, str]:
    return {"agent_id": found.agent.id, "document_id": found.document.id}


@writes("documents.metadata documents.updated_at")
async def update_agent_document(scene: Scene) -> Call:
    return Call(scene.me, {"metadata": {"team": "sales"}}, _document(await _household(scene)))


@writes()
async def search_agent_knowledge(scene: Scene) -> Call:
    return Call(scene.me, {"query": "prices"}, {"agent_id": await _agent(scene)})
