"""An agent as it is read: with its tools, its knowledge and its sub-agents."""

from typing import Any, TypeVar

from retinue.agents.models import Agent
from retinue.agents.queries import sub_agents_of, tools_of
from retinue.agents.schemas import AgentDetail, KnowledgeOfAgent, SubAgentOfAgent, ToolOfAgent
from retinue.kit.context import Context
from retinue.knowledge import service as knowledge

D = TypeVar("D", bound=AgentDetail)


async def shown(ctx: Context, agent: Agent, shape: type[D], **more: Any) -> D:
    tools = await tools_of(ctx, agent)
    sub_agents = await sub_agents_of(ctx, agent)
    known = await knowledge.counts(ctx, agent.knowledge_base_id)
    return shape.of(
        agent,
        tools=[ToolOfAgent.of(one.tool, is_enabled=one.attachment.is_enabled) for one in tools],
        knowledge_base=KnowledgeOfAgent.of(known, enabled=known.document_count > 0),
        sub_agents=[
            SubAgentOfAgent.of(one.agent, relationship_type=one.relation.relationship_type)
            for one in sub_agents
        ],
        **more,
    )
