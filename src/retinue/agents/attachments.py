"""Attaching, changing and detaching an agent's tools; each change is a new version of the agent."""

from retinue.agents import overrides
from retinue.agents.errors import AlreadyAttached, TooManyAttached
from retinue.agents.models import Agent, AgentTool
from retinue.agents.queries import AttachedTool, lock_agent_graph, next_display_order
from retinue.agents.schemas import Attach, AttachmentOut, AttachmentUpdate
from retinue.agents.service import change, lock_agent
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.header_masks import mask_config_headers
from retinue.tools.errors import ToolNotFound
from retinue.tools.models import Tool

MAX_TOOLS = 128


def render_attachment(ctx: Context, attached: AttachedTool) -> AttachmentOut:
    tool, attachment = attached.tool, attached.attachment
    return AttachmentOut.of(
        attachment,
        config_override=mask_config_headers(ctx.principal, attachment.config_override, "tools:write"),
        tool_name=tool.name,
        tool_type=tool.tool_type,
        category=tool.category,
        attached_at=attachment.created_at,
    )


async def attach(ctx: Context, agent: Agent, body: Attach) -> AgentTool:
    tool = await _lock_tool(ctx, body.tool_id)
    locked = await lock_agent(ctx, agent.id)
    if await ctx.db.find(AgentTool, agent_id=locked.id, tool_id=tool.id):
        raise AlreadyAttached
    if locked.tool_count >= MAX_TOOLS:
        raise TooManyAttached
    overrides.check(ctx, tool, body.config_override)
    order = body.display_order
    attachment = AgentTool(
        agent_id=locked.id,
        tool_id=tool.id,
        is_enabled=body.is_enabled is not False,
        display_order=await next_display_order(ctx, locked) if order is None else order,
        config_override=body.config_override,
        requires_approval=body.requires_approval,
        always_offered=body.always_offered,
        attached_by=ctx.principal.id,
    )
    attachment.override_destination = await overrides.destination_for(
        ctx, tool, attachment, body.config_override
    )
    await ctx.db.insert(attachment)
    await change(
        ctx,
        locked,
        tool_count=locked.tool_count + 1,
        touched=_touched(attachment.override_destination),
        summary=f"Attached tool {tool.name}.",
    )
    return attachment


async def update(ctx: Context, agent: Agent, tool: Tool, body: AttachmentUpdate) -> AttachedTool:
    tool = await _lock_tool(ctx, tool.id)
    locked = await lock_agent(ctx, agent.id)
    attachment = await fetch(ctx, locked, tool)
    touched = await store(ctx, attachment, tool, sent_fields(body))
    if touched:
        await change(ctx, locked, touched=touched, summary=f"Changed tool {tool.name}.")
    return AttachedTool(attachment, tool)


async def store(ctx: Context, attachment: AgentTool, tool: Tool, wanted: JsonObject) -> tuple[str, ...]:
    """Update an attachment whose tool and agent are locked; return what changed of the agent."""
    if "config_override" in wanted:
        override = wanted["config_override"]
        overrides.check(ctx, tool, override)
        destination = await overrides.destination_for(ctx, tool, attachment, override)
        wanted = {**wanted, "override_destination": destination}
    changes = {name: value for name, value in wanted.items() if getattr(attachment, name) != value}
    await ctx.db.update(attachment, **changes)
    return _touched(changes.get("override_destination", "")) if changes else ()


async def detach(ctx: Context, agent: Agent, tool: Tool) -> None:
    locked = await lock_agent(ctx, agent.id)
    await _remove(ctx, locked, await fetch(ctx, locked, tool), f"Detached tool {tool.name}.")


async def fetch(ctx: Context, agent: Agent, tool: Tool) -> AgentTool:
    attachment = await ctx.db.find(AgentTool, agent_id=agent.id, tool_id=tool.id)
    if attachment is None:
        raise ToolNotFound
    return attachment


async def _lock_tool(ctx: Context, tool_id: str) -> Tool:
    """Lock the tool; always before the agents it is attached to."""
    tool = await ctx.db.lock(Tool, tool_id)
    if tool is None:
        raise ToolNotFound
    return tool


async def _remove(ctx: Context, locked: Agent, attachment: AgentTool, summary: str) -> None:
    await ctx.db.delete(attachment)
    await change(ctx, locked, tool_count=locked.tool_count - 1, touched=("tools",), summary=summary)


def _touched(destination: str) -> tuple[str, ...]:
    return ("tools", "secret_destination") if destination else ("tools",)


async def detach_tool(ctx: Context, tool_id: str) -> None:
    """Detach a tool that is about to be deleted from every agent; the locks prevent new attachments."""
    await lock_agent_graph(ctx)
    tool = await ctx.db.lock(Tool, tool_id)
    if tool is None:
        raise ToolNotFound
    for seen in await ctx.db.all(AgentTool, tool_id=tool_id):
        locked = await ctx.db.lock(Agent, seen.agent_id)
        attachment = await ctx.db.find(AgentTool, agent_id=seen.agent_id, tool_id=tool_id)
        if locked is not None and attachment is not None:
            await _remove(ctx, locked, attachment, f"Tool {tool.name} was deleted.")
