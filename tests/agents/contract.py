"""Objects and calls of agents and their knowledge for the contract tests."""

from retinue.agents.models import Agent, AgentDraft, AgentTool, AgentVersion, SubAgent
from retinue.knowledge.models import Document
from retinue.tools.models import Tool
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.households import Household, some_agent, some_household
from tests.factories.tools import some_tool


async def _make(world: World) -> dict[str, str]:
    # Agents take longer than everything else here.
    if not world.wants("agent_id", "conversation_id", "embed_key_id", "job_id"):
        return {}
    tool = await world.ctx.db.get(Tool, world.ids["tool_id"])
    assert tool is not None
    made = await some_household(world.ctx, tool, world.name)
    return {
        "agent_id": made.agent.id,
        "sub_agent_id": made.sub_agent.id,
        "document_id": made.document.id,
        "version": "1",
    }


CONTRACT = DomainContract(
    records=(Agent, AgentVersion, AgentDraft, AgentTool, SubAgent, Document),
    make=_make,
    uploads={"train_agent": ("a.txt", b"Opening hours", "text/plain")},
)


_VERSION = "agents.version agents.updated_at"
_NEW = {"name": "New", "primary_model": "any/model", "system_prompt": "Be kind."}


async def _household(scene: Scene) -> Household:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_household(ctx, await ctx.db.insert(some_tool(scene.user.id)))


async def _agent(scene: Scene) -> str:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return (await some_agent(ctx)).id


@CONTRACT.writes(agents=1, agent_versions=1)
async def create_agent(scene: Scene) -> Call:
    return Call(scene.me, _NEW)


@CONTRACT.writes(f"agents.name agents.temperature {_VERSION}", agent_versions=1)
async def update_agent(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "temperature": 0.1}, {"agent_id": await _agent(scene)})


@CONTRACT.writes(agent_drafts=1)
async def save_agent_draft(scene: Scene) -> Call:
    body = {"snapshot": {"name": "Drafted", "web_search": {"max_results": 7}}, "based_on": 1}
    return Call(scene.me, body, {"agent_id": await _agent(scene)})


@CONTRACT.writes(f"agents.status agents.published_at {_VERSION}", agent_versions=1)
async def publish_agent(scene: Scene) -> Call:
    return Call(scene.me, {"note": "As it is."}, {"agent_id": await _agent(scene)})


@CONTRACT.writes(f"agents.name {_VERSION}", agents=1, agent_versions=2)
async def change_many_agents(scene: Scene) -> Call:
    renamed = {"op": "update", "id": await _agent(scene), "data": {"name": "Renamed"}}
    return Call(scene.me, {"operations": [{"op": "create", "data": _NEW}, renamed]})


@CONTRACT.writes(f"agents.tool_count {_VERSION}", agent_tools=1, agent_versions=1)
async def attach_tool(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        tool = await ctx.db.insert(some_tool(scene.user.id))
    body = {"tool_id": tool.id, "config_override": {"timeout_ms": 5}}
    return Call(scene.me, body, {"agent_id": await _agent(scene)})


@CONTRACT.writes(f"agent_tools.is_enabled agent_tools.updated_at {_VERSION}", agent_versions=1)
async def update_agent_tool(scene: Scene) -> Call:
    found = await _household(scene)
    return Call(scene.me, {"is_enabled": False}, {"agent_id": found.agent.id, "tool_id": found.tool.id})


@CONTRACT.writes(f"agents.sub_agent_count {_VERSION}", sub_agents=1, agent_versions=1)
async def attach_sub_agent(scene: Scene) -> Call:
    body = {"agent_id": await _agent(scene), "delegation_prompt": "Ask it."}
    return Call(scene.me, body, {"agent_id": await _agent(scene)})


@CONTRACT.writes(f"agents.sub_agent_count {_VERSION}", agents=1, sub_agents=1, agent_versions=1)
async def create_direct_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {**_NEW, "delegation_prompt": "Ask it."}, {"agent_id": await _agent(scene)})


def _below(found: Household) -> dict[str, str]:
    return {"agent_id": found.agent.id, "sub_agent_id": found.sub_agent.id}


@CONTRACT.writes(f"agents.name sub_agents.is_enabled sub_agents.updated_at {_VERSION}", agent_versions=1)
async def update_direct_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Renamed", "is_enabled": False}, _below(await _household(scene)))


@CONTRACT.writes(f"sub_agents.delegation_prompt sub_agents.updated_at {_VERSION}", agent_versions=1)
async def update_sub_agent(scene: Scene) -> Call:
    return Call(scene.me, {"delegation_prompt": "Ask it."}, _below(await _household(scene)))


@CONTRACT.writes(f"agents.web_search {_VERSION}", agent_versions=1)
async def update_web_search(scene: Scene) -> Call:
    return Call(scene.me, {"max_results": 7}, {"agent_id": await _agent(scene)})


def _document(found: Household) -> dict[str, str]:
    return {"agent_id": found.agent.id, "document_id": found.document.id}


@CONTRACT.writes("documents.metadata documents.updated_at")
async def update_agent_document(scene: Scene) -> Call:
    return Call(scene.me, {"metadata": {"team": "sales"}}, _document(await _household(scene)))


@CONTRACT.writes("documents.is_enabled documents.updated_at")
async def change_many_documents(scene: Scene) -> Call:
    found = await _household(scene)
    body = {"action": "disable", "ids": [found.document.id]}
    return Call(scene.me, body, {"agent_id": found.agent.id})


@CONTRACT.writes()
async def search_agent_knowledge(scene: Scene) -> Call:
    return Call(scene.me, {"query": "prices"}, {"agent_id": await _agent(scene)})


@CONTRACT.writes(agents=1, agent_versions=1)
async def import_agent(scene: Scene) -> Call:
    return Call(scene.me, {"format": "retinue.agent/1", "agent": _NEW})
