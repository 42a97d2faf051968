"""An agent as a file: exported without secrets, imported with warnings about what is missing here."""

from typing import Literal

from msgspec import UNSET

from retinue.agents import attachments, service, web_search
from retinue.agents.models import Agent
from retinue.agents.queries import load_sub_agents, load_tools
from retinue.agents.schemas import (
    AgentCreate,
    AgentExport,
    AgentImported,
    AgentOut,
    Attach,
    ExportedAgent,
    ExportedTool,
    ExportedWebSearch,
)
from retinue.agents.web_search import WebSearchUpdate
from retinue.kit.context import Context
from retinue.providers.model_resolution import is_configured
from retinue.tools.models import Tool

FORMAT: Literal["retinue.agent/1"] = "retinue.agent/1"


async def export_agent(ctx: Context, agent: Agent) -> AgentExport:
    """Return the agent without credentials, and without overrides of tools, which may hold some."""
    return AgentExport(
        format=FORMAT,
        agent=ExportedAgent.of(agent),
        web_search=ExportedWebSearch.of(
            agent.web_search,
            allowed_domains=list(agent.web_search.allowed_domains),
            blocked_domains=list(agent.web_search.blocked_domains),
        ),
        tools=[
            ExportedTool.of(
                one.attachment,
                slug=one.tool.slug,
                name=one.tool.name,
                has_config_override=bool(one.attachment.config_override),
            )
            for one in await load_tools(ctx, agent)
        ],
        sub_agents=[one.agent.name for one in await load_sub_agents(ctx, agent)],
    )


async def import_agent(ctx: Context, body: AgentExport) -> AgentImported:
    """Create a draft from a file; what cannot be taken over is named in `warnings`."""
    agent = await service.create(ctx, AgentCreate.of(body.agent, status=None))
    warnings = (
        []
        if await is_configured(ctx, agent.primary_model)
        else [f"The model {agent.primary_model} is not configured here."]
    )
    warnings += await _set_web_search(ctx, agent, body.web_search)
    warnings += await _attach_tools(ctx, agent, body.tools)
    warnings += [f"The sub-agent {name} is not part of the file." for name in body.sub_agents]
    current = await ctx.db.get(Agent, agent.id) or agent
    return AgentImported(agent=AgentOut.of(current), warnings=warnings)


async def _set_web_search(ctx: Context, agent: Agent, given: ExportedWebSearch | None) -> list[str]:
    if given is None:
        return []
    shown = await web_search.update(
        ctx,
        agent,
        WebSearchUpdate(
            enabled=given.enabled,
            search_engine=given.search_engine,
            max_results=given.max_results,
            safe_search=given.safe_search,
            read_pages=given.read_pages,
            allowed_domains=given.allowed_domains or UNSET,
            blocked_domains=given.blocked_domains or UNSET,
        ),
    )
    return list(shown.warnings) if given.enabled else []


async def _attach_tools(ctx: Context, agent: Agent, tools: list[ExportedTool]) -> list[str]:
    if tools and not ctx.principal.may("tools:write"):
        return ["No tool was attached: this needs the permission tools:write."]
    warnings = []
    for given in tools:
        tool = await ctx.db.find(Tool, slug=given.slug)
        if tool is None:
            warnings.append(f"There is no tool {given.slug} here.")
            continue
        await attachments.attach(
            ctx,
            agent,
            Attach(
                tool_id=tool.id,
                is_enabled=given.is_enabled,
                requires_approval=given.requires_approval,
                always_offered=given.always_offered,
            ),
        )
        if given.has_config_override:
            warnings.append(f"The settings of the tool {given.slug} for this agent are not part of the file.")
    return warnings
