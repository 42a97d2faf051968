"""The tools of an agent: attached, changed and detached, each time as a version of the agent."""

from typing import Any

from retinue.agents import overrides
from retinue.agents.errors import AlreadyAttached, TooManyAttached
from retinue.agents.models import Agent, AgentTool
from retinue.agents.queries import AttachedTool, hold_graph, next_display_order
from retinue.agents.schemas import Attach, AttachmentOut, AttachmentUpdate
from retinue.agents.service import change, hold
from retinue.kit.context import Context
from retinue.kit.schemas import given
from retinue.tools.errors import ToolNotFound
from retinue.tools.models import Tool

MOST_TOOLS = 128


def shown(one: AttachedTool) -> AttachmentOut:
    tool, attachment = one.tool, one.attachment
    return AttachmentOut.of(
        attachment,
        tool_name=tool.name,
        tool_type=tool.tool_type,
        category=tool.category,
        attached_at=attachment.created_at,
    )


async def attach(ctx: Context, agent: Agent, body: Attach) -> AgentTool:
    tool = await _hold_tool(ctx, body.tool_id)
    held = await hold(ctx, agent.id)
    if await ctx.db.find(AgentTool, agent_id=held.id, tool_id=tool.id):
        raise AlreadyAttached
    if held.tool_count >= MOST_TOOLS:
        raise TooManyAttached
    overrides.check(tool, body.config_override)
    order = body.display_order
    attachment = AgentTool(
        agent_id=held.id,
        tool_id=tool.id,
        is_enabled=body.is_enabled is not False,
        display_order=await next_display_order(ctx, held) if order is None else order,
        config_override=body.config_override,
        requires_approval=body.requires_approval,
        attached_by=ctx.principal.id,
    )
    attachment.override_destination = await overrides.destination_for(
        ctx, tool, attachment, body.config_override
    )
    await ctx.db.insert(attachment)
    await change(
        ctx,
        held,
        tool_count=held.tool_count + 1,
        touched=_touched(attachment.override_destination),
        summary=f"Attached tool {tool.name}.",
    )
    return attachment


async def update(ctx: Context, agent: Agent, tool: Tool, body: AttachmentUpdate) -> AttachedTool:
    tool = await _hold_tool(ctx, tool.id)
    held = await hold(ctx, agent.id)
    attachment = await fetch(ctx, held, tool)
    touched = await store(ctx, attachment, tool, given(body))
    if touched:
        await change(ctx, held, touched=touched, summary=f"Changed tool {tool.name}.")
    return AttachedTool(attachment, tool)


async def store(ctx: Context, attachment: AgentTool, tool: Tool, wanted: dict[str, Any]) -> tuple[str, ...]:
    """Change an attachment whose tool and agent are held; what that touches of the agent."""
    if "config_override" in wanted:
        override = wanted["config_override"]
        overrides.check(tool, override)
        destination = await overrides.destination_for(ctx, tool, attachment, override)
        wanted = {**wanted, "override_destination": destination}
    changes = {name: value for name, value in wanted.items() if getattr(attachment, name) != value}
    await ctx.db.update(attachment, **changes)
    return _touched(changes.get("override_destination", "")) if changes else ()


async def detach(ctx: Context, agent: Agent, tool: Tool) -> None:
    held = await hold(ctx, agent.id)
    await _remove(ctx, held, await fetch(ctx, held, tool), f"Detached tool {tool.name}.")


async def fetch(ctx: Context, agent: Agent, tool: Tool) -> AgentTool:
    found = await ctx.db.find(AgentTool, agent_id=agent.id, tool_id=tool.id)
    if found is None:
        raise ToolNotFound
    return found


async def _hold_tool(ctx: Context, tool_id: str) -> Tool:
    """A tool is always held before the agents it is attached to."""
    tool = await ctx.db.lock(Tool, tool_id)
    if tool is None:
        raise ToolNotFound
    return tool


async def _remove(ctx: Context, held: Agent, attachment: AgentTool, summary: str) -> None:
    await ctx.db.delete(attachment)
    await change(ctx, held, tool_count=held.tool_count - 1, touched=("tools",), summary=summary)


def _touched(destination: str) -> tuple[str, ...]:
    return ("tools", "secret_destination") if destination else ("tools",)


async def detach_tool(ctx: Context, tool_id: str) -> None:
    """Take a tool that is about to be deleted from every agent; nobody attaches it meanwhile."""
    await hold_graph(ctx)
    tool = await ctx.db.lock(Tool, tool_id)
    if tool is None:
        raise ToolNotFound
    for seen in await ctx.db.all(AgentTool, tool_id=tool_id):
        held = await ctx.db.lock(Agent, seen.agent_id)
        attachment = await ctx.db.find(AgentTool, agent_id=seen.agent_id, tool_id=tool_id)
        if held is not None and attachment is not None:
            await _remove(ctx, held, attachment, f"Tool {tool.name} was deleted.")
