from retinue.agents import attachments
from retinue.agents.errors import AlreadyAttached, TooManyAttached
from retinue.agents.loaders import AgentById
from retinue.agents.queries import load_tools
from retinue.agents.schemas import Attach, Attached, AttachmentOut, AttachmentUpdate
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.tools.errors import ToolNotFound
from retinue.tools.loaders import ToolById

routes = Routes("/v1/agents/{agent_id}/tools", tag="agents", wrap=True)


@routes.get("", requires="tools:read")
async def list_agent_tools(ctx: Context, agent: AgentById) -> list[AttachmentOut]:
    """List the tools attached to the agent, ordered by `display_order`, including disabled ones."""
    return [attachments.render_attachment(ctx, one) for one in await load_tools(ctx, agent)]


@routes.post("", requires="tools:write", status=201, errors=(ToolNotFound, AlreadyAttached, TooManyAttached))
async def attach_tool(ctx: Context, agent: AgentById, body: Attach) -> Attached:
    """Attach a tool and save the agent as a new version; at most 128 tools per agent.

    If `config_override` sends the tool's secrets to another address, calls fail with `destination_changed`
    until a user who may read these secrets saves the override.
    """
    attachment = await attachments.attach(ctx, agent, body)
    return Attached.of(attachment, attached_at=attachment.created_at)


@routes.patch("/{tool_id}", requires="tools:write")
async def update_agent_tool(
    ctx: Context, agent: AgentById, tool: ToolById, body: AttachmentUpdate
) -> AttachmentOut:
    """Change how the agent uses an attached tool; a change is saved as a new version of the agent."""
    return attachments.render_attachment(ctx, await attachments.update(ctx, agent, tool, body))


@routes.delete("/{tool_id}", requires="tools:write", status=204)
async def detach_tool(ctx: Context, agent: AgentById, tool: ToolById) -> None:
    """Detach the tool from the agent and save the agent as a new version. The tool itself stays."""
    await attachments.detach(ctx, agent, tool)
