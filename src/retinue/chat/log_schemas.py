import msgspec

from retinue.chat.engine.parts import ModelSpending, TokenUsage
from retinue.chat.models import ChatChannel, ChatLog, TurnStatus
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Schema


class LogList(ListQuery, kw_only=True):
    conversation_id: str | None = None
    channel: ChatChannel | None = None
    status: TurnStatus | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None


class LogOut(Schema, kw_only=True):
    id: str
    agent_id: str
    conversation_id: str
    message_id: str
    channel: ChatChannel
    user_id: str | None
    session_id: str | None
    user_message: str | None
    assistant_message: str | None
    tool_calls: list[JsonObject]
    usage: TokenUsage | None
    usage_by_model: list[ModelSpending]
    estimated_cost_usd: float | None
    model: str
    response_time_ms: int
    status: TurnStatus
    error: JsonObject | None
    correlation_id: str
    created_at: str

    @classmethod
    def from_record(cls, log: ChatLog) -> "LogOut":
        if not log.has_usage:
            return cls.of(log, usage=None, usage_by_model=[], estimated_cost_usd=None)
        usage = TokenUsage(
            prompt_tokens=log.prompt_tokens,
            completion_tokens=log.completion_tokens,
            total_tokens=log.prompt_tokens + log.completion_tokens,
            cached_tokens=log.cached_tokens,
            cache_write_tokens=log.cache_write_tokens,
            reasoning_tokens=log.reasoning_tokens,
        )
        is_priced = all(spent.estimated_cost_usd is not None for spent in log.usage_by_model)
        return cls.of(log, usage=usage, estimated_cost_usd=log.cost_usd if is_priced else None)


class LogSettingsOut(Schema, kw_only=True):
    log_messages: bool
    log_tool_calls: bool
    log_token_usage: bool
    retention_days: int
