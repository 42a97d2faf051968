from retinue.agents import attachments
from retinue.agents.errors import AlreadyAttached, TooManyAttached
from retinue.agents.loaders import AgentById
from retinue.agents.queries import tools_of
from retinue.agents.schemas import Attach, Attached, AttachmentOut, AttachmentUpdate
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.tools.errors import ToolNotFound
from retinue.tools.loaders import ToolById

routes = Routes("/v1/agents/{agent_id}/tools", tag="agents", wrap=True)


@routes.get("", requires="tools:read")
async def list_agent_tools(ctx: Context, agent: AgentById) -> list[AttachmentOut]:
    return [attachments.shown(one) for one in await tools_of(ctx, agent)]


@routes.post("", requires="tools:write", status=201, errors=(ToolNotFound, AlreadyAttached, TooManyAttached))
async def attach_tool(ctx: Context, agent: AgentById, body: Attach) -> Attached:
    """`config_override` goes over the tool's configuration in depth, and its values win."""
    attachment = await attachments.attach(ctx, agent, body)
    return Attached.of(attachment, attached_at=attachment.created_at)


@routes.patch("/{tool_id}", requires="tools:write")
async def update_agent_tool(
    ctx: Context, agent: AgentById, tool: ToolById, body: AttachmentUpdate
) -> AttachmentOut:
    return attachments.shown(await attachments.update(ctx, agent, tool, body))


@routes.delete("/{tool_id}", requires="tools:write", status=204)
async def detach_tool(ctx: Context, agent: AgentById, tool: ToolById) -> None:
    await attachments.detach(ctx, agent, tool)
