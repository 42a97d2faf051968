"""Agents with some of everything that hangs on one, so that every path below an agent names something."""

from typing import NamedTuple

from retinue.agents import attachments, service, sub_agents
from retinue.agents.models import Agent
from retinue.agents.schemas import AgentCreate, Attach, DirectCreate
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.knowledge import service as knowledge
from retinue.knowledge.models import Document
from retinue.tools.models import Tool

MODEL = "nobody/knows-this-model"


class Household(NamedTuple):
    """An agent, its first version, its tool, its direct sub-agent and its document."""

    agent: Agent
    tool: Tool
    sub_agent: Agent
    document: Document


async def some_agent(ctx: Context, name: str = "Agent") -> Agent:
    return await service.create(ctx, AgentCreate(name=name, primary_model=MODEL, system_prompt=f"{name}."))


async def some_document(ctx: Context, agent: Agent, name: str) -> Document:
    base = await knowledge.create_base(ctx, owner_id=agent.id)
    await ctx.db.update(agent, knowledge_base_id=base.id)
    file = await ctx.db.insert(
        File(filename=name, mime_type="text/plain", size_bytes=1, sha256="x", purpose="knowledge")
    )
    return await ctx.db.insert(
        Document(
            base_id=base.id,
            name=name,
            mime_type="text/plain",
            size_bytes=1,
            file_id=file.id,
            metadata={},
        )
    )


async def some_household(ctx: Context, tool: Tool, name: str = "Agent") -> Household:
    agent = await some_agent(ctx, name)
    await attachments.attach(ctx, agent, Attach(tool_id=tool.id))
    inner = DirectCreate(name=f"{name} inside", primary_model=MODEL, system_prompt=f"{name}.")
    direct = await sub_agents.create_direct(ctx, agent, inner)
    document = await some_document(ctx, await service.lock_agent(ctx, agent.id), f"{name}.txt")
    return Household(agent, tool, direct.agent, document)
