from typing import Literal

import msgspec

from retinue.agents.schemas import StatsPeriod
from retinue.kit.schema.base import Schema

Period = Literal["24h", "7d", "30d", "90d", "all_time"]


class AgentStatsQuery(msgspec.Struct, kw_only=True):
    period: Period = "all_time"


class AgentStats(Schema, kw_only=True):
    agent_id: str
    total_conversations: int
    total_messages: int
    total_tokens_used: int
    avg_response_time_ms: int
    period: Period
    successful_messages: int
    failed_messages: int
    tool_calls: int
    positive_feedback: int
    negative_feedback: int
    estimated_cost_usd: float
    p50_response_time_ms: int | None
    p95_response_time_ms: int | None
    p50_first_token_ms: int | None
    p95_first_token_ms: int | None
    cached_tokens: int


class AgentBreakdownQuery(msgspec.Struct, kw_only=True):
    period: StatsPeriod = "7d"


class StatsPoint(Schema, kw_only=True):
    """One hour or day (UTC) of an agent."""

    start: str
    chats: int = 0
    failed_chats: int = 0
    tokens: int = 0
    estimated_cost_usd: float = 0.0
    p50_response_time_ms: int | None = None
    p95_response_time_ms: int | None = None
    likes: int = 0
    dislikes: int = 0


class ModelUse(Schema, kw_only=True):
    model: str
    calls: int
    unpriced_calls: int
    tokens: int
    cached_tokens: int
    estimated_cost_usd: float | None


class ToolUse(Schema, kw_only=True):
    tool: str
    tool_id: str | None
    calls: int
    failed_calls: int
    avg_execution_time_ms: int


class AgentBreakdown(AgentStats, kw_only=True):
    unpriced_calls: int
    series: list[StatsPoint]
    models: list[ModelUse]
    tools: list[ToolUse]
