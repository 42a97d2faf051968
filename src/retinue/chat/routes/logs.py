from msgspec.structs import replace

from retinue.agents.loaders import AgentById
from retinue.agents.service import change
from retinue.chat import conversations, statistics
from retinue.chat.errors import MessageNotFound
from retinue.chat.queries import LOGS, own_only
from retinue.chat.schemas import (
    AgentStats,
    Feedback,
    FeedbackGiven,
    LogList,
    LogOut,
    LogSettingsOut,
    LogSettingsUpdate,
    StatsQuery,
    StatusOut,
)
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.kit.schemas import given

routes = Routes("/api/v1/agents/{agent_id}", tag="agents")


@routes.get("/status", requires="agents:read")
async def get_agent_status(ctx: Context, agent: AgentById) -> StatusOut:
    return await statistics.status(ctx, agent)


@routes.get("/stats", requires="agents:read")
async def get_agent_stats(ctx: Context, agent: AgentById, query: StatsQuery) -> AgentStats:
    return await statistics.collect(ctx, agent, query.period)


@routes.get("/logs", requires="conversations:read")
async def list_chat_logs(ctx: Context, agent: AgentById, query: LogList) -> Page[LogOut]:
    """Everyone's turns for those who may change agents, else one's own."""
    return (await LOGS.page(ctx.db, query, agent_id=agent.id, **own_only(ctx))).shown(LogOut.shown)


@routes.get("/log-settings", requires="agents:read")
async def get_log_settings(ctx: Context, agent: AgentById) -> LogSettingsOut:  # noqa: ARG001  every handler takes it
    return LogSettingsOut.of(agent.log_settings)


@routes.put("/log-settings", requires="agents:write")
async def update_log_settings(ctx: Context, agent: AgentById, body: LogSettingsUpdate) -> LogSettingsOut:
    changed = await change(ctx, agent, log_settings=replace(agent.log_settings, **given(body)))
    return LogSettingsOut.of(changed.log_settings)


@routes.post("/messages/{message_id}/feedback", requires="conversations:write", errors=(MessageNotFound,))
async def rate_message(ctx: Context, agent: AgentById, message_id: str, body: Feedback) -> FeedbackGiven:
    message = await conversations.rate(ctx, agent.id, message_id, body)
    return FeedbackGiven(message_id=message.id, rating=body.rating, comment=message.comment)
