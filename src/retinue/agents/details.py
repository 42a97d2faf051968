"""The detailed view of an agent: with its tools, knowledge base and sub-agents."""

from typing import Any, TypeVar

from retinue.agents.models import Agent
from retinue.agents.queries import load_sub_agents, load_tools
from retinue.agents.schemas import AgentDetail, KnowledgeOfAgent, SubAgentOfAgent, ToolOfAgent
from retinue.kit.context import Context
from retinue.knowledge import service as knowledge

D = TypeVar("D", bound=AgentDetail)


async def render_agent(ctx: Context, agent: Agent, shape: type[D], **more: Any) -> D:
    tools = await load_tools(ctx, agent)
    sub_agents = await load_sub_agents(ctx, agent)
    counts = await knowledge.load_counts(ctx, agent.knowledge_base_id)
    return shape.of(
        agent,
        tools=[
            ToolOfAgent.of(attached.tool, is_enabled=attached.attachment.is_enabled) for attached in tools
        ],
        knowledge_base=KnowledgeOfAgent.of(counts, enabled=counts.document_count > 0),
        sub_agents=[
            SubAgentOfAgent.of(one.agent, relationship_type=one.relation.relationship_type)
            for one in sub_agents
        ],
        **more,
    )
