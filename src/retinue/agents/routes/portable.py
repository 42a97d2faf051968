from retinue.agents import portable
from retinue.agents.loaders import AgentById
from retinue.agents.schemas import AgentExport, AgentImported, AgentTemplate
from retinue.agents.templates import load_templates
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/agents", tag="agents")


@routes.get("/templates", requires="agents:read", wrap=True, cached=True)
async def list_agent_templates(ctx: Context) -> list[AgentTemplate]:  # noqa: ARG001  every handler takes it
    """List the templates from which an agent can be started, by name."""
    return load_templates()


@routes.get("/{agent_id}/export", requires="agents:read")
async def export_agent(ctx: Context, agent: AgentById) -> AgentExport:
    """Return the agent as a file that another tenant or instance can import.

    It contains no credentials, documents, conversations or settings that a tool has for this agent only.
    """
    return await portable.export_agent(ctx, agent)


@routes.post("/import", requires="agents:write", status=201)
async def import_agent(ctx: Context, body: AgentExport) -> AgentImported:
    """Create a draft from an exported agent.

    Tools are found by their slug. What does not exist here is left out and named in `warnings`.
    """
    return await portable.import_agent(ctx, body)
