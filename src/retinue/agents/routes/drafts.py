from retinue.agents import drafts
from retinue.agents.draft_schemas import DraftOut, DraftUpdate
from retinue.agents.drafts import DraftOfAgent
from retinue.agents.loaders import AgentById
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden
from retinue.kit.http.preconditions import expected_tags
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes

routes = Routes("/api/v1/agents/{agent_id}/draft", tag="agents")


async def _tagged(ctx: Context, draft: DraftOfAgent) -> Reply[DraftOut]:
    return Reply(await drafts.render_draft(ctx, draft), headers=(("ETag", draft.etag),))


@routes.get("", requires="agents:read", handles_etag_itself=True)
async def get_agent_draft(ctx: Context, agent: AgentById) -> Reply[DraftOut]:
    """Return the draft of the agent: changes that are saved but not in use.

    Without a stored draft it is the agent as it is now, with `is_stored: false`.
    """
    return await _tagged(ctx, await drafts.load(ctx, agent))


@routes.put("", requires="agents:write", errors=(Forbidden,), handles_etag_itself=True)
async def save_agent_draft(
    ctx: Context, agent: AgentById, body: DraftUpdate, request: Request
) -> Reply[DraftOut]:
    """Save the draft. The agent in use stays as it is, and no version is made.

    Omitted fields of `snapshot` keep what the draft says, also inside `web_search` and `log_settings`;
    `tools` and `sub_agents` replace the whole list. The checks are those of changing the agent. Changing
    `tools` requires `tools:write`.
    """
    return await _tagged(ctx, await drafts.save(ctx, agent, body, expected_tags(request)))


@routes.delete("", requires="agents:write", status=204, handles_etag_itself=True)
async def discard_agent_draft(ctx: Context, agent: AgentById, request: Request) -> None:
    """Discard the draft; the next one starts from the agent as it is. Succeeds if there is none."""
    await drafts.discard(ctx, agent, expected_tags(request))
