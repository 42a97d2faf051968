from msgspec.structs import replace

from retinue.agents.loaders import AgentById
from retinue.agents.schemas import LogSettingsUpdate
from retinue.agents.service import change, lock_agent
from retinue.chat import breakdown, conversations, statistics
from retinue.chat.errors import MessageNotFound
from retinue.chat.log_schemas import LogList, LogOut, LogSettingsOut
from retinue.chat.queries import page_of_logs
from retinue.chat.schemas import (
    Feedback,
    FeedbackGiven,
    StatusOut,
)
from retinue.chat.statistics_schemas import (
    AgentBreakdown,
    AgentBreakdownQuery,
    AgentStats,
    AgentStatsQuery,
)
from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.kit.schema.base import sent_fields

routes = Routes("/api/v1/agents/{agent_id}", tag="agents")


@routes.get("/status", requires="agents:read")
async def get_agent_status(ctx: Context, agent: AgentById) -> StatusOut:
    """Return whether the agent can answer, how many conversations are active, and how its training stands."""
    return await statistics.status(ctx, agent)


@routes.get("/stats", requires="agents:read")
async def get_agent_stats(ctx: Context, agent: AgentById, query: AgentStatsQuery) -> AgentStats:
    """Return usage figures for a period.

    They include turns whose log entries have been deleted; those are counted by whole days.
    """
    return await statistics.collect(ctx, agent, query.period)


@routes.get("/stats/breakdown", requires="agents:read")
async def get_agent_breakdown(ctx: Context, agent: AgentById, query: AgentBreakdownQuery) -> AgentBreakdown:
    """Return the figures of a period with their course over time, and the models and tools that were used.

    One entry of `series` covers an hour of `24h` and a day (UTC) of longer periods; what happened before the
    first whole one is in the sums only. Models, tools and times are those of turns whose logs are kept.
    """
    return await breakdown.collect(ctx, agent, query.period)


@routes.get("/logs", requires="conversations:read")
async def list_chat_logs(ctx: Context, agent: AgentById, query: LogList) -> Page[LogOut]:
    """List the agent's turns, newest first by default: one entry for each question and its reply.

    Callers with `agents:write` see all turns, all others only their own.
    """
    return (await page_of_logs(ctx, agent.id, query)).to_page(LogOut.from_record)


@routes.get("/log-settings", requires="agents:read", cached=True)
async def get_log_settings(ctx: Context, agent: AgentById) -> LogSettingsOut:  # noqa: ARG001  every handler takes it
    """Return what the agent's chat log keeps, and for how long."""
    return LogSettingsOut.of(agent.log_settings)


@routes.put("/log-settings", requires="agents:write")
async def update_log_settings(ctx: Context, agent: AgentById, body: LogSettingsUpdate) -> LogSettingsOut:
    """Change what the agent's chat log keeps; omitted fields stay. Saved as a new version of the agent.

    Entries already written keep their content until `retention_days` have passed.
    """
    locked = await lock_agent(ctx, agent.id)
    changed = await change(ctx, locked, log_settings=replace(locked.log_settings, **sent_fields(body)))
    return LogSettingsOut.of(changed.log_settings)


@routes.post("/messages/{message_id}/feedback", requires="conversations:write", errors=(MessageNotFound,))
async def rate_message(ctx: Context, agent: AgentById, message_id: str, body: Feedback) -> FeedbackGiven:
    """Rate a reply of the agent; a new rating replaces the previous one.

    Callers without `agents:write` rate only replies in their own conversations.
    """
    message = await conversations.rate(ctx, agent.id, message_id, body)
    return FeedbackGiven(
        message_id=message.id, rating=body.rating, comment=message.comment, reasons=message.reasons or []
    )
