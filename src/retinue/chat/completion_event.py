"""The `agent.chat.completed` event, with the totals of its conversation."""

from datetime import datetime

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import ModelUsage
from retinue.chat.engine.parts import TokenUsage
from retinue.chat.events import ChatCompleted
from retinue.chat.models import ChatLog, Conversation
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.json_types import JsonObject

_logs = ChatLog.__table__
_TOKEN_COLUMNS = (
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_IN_CONVERSATION = sa.and_(
    _logs.c.conversation_id == sa.bindparam("conversation_id"), _logs.c.has_usage == sa.true()
)
_TOKENS_USED = Statement(
    sa.select(sa.func.count(), *(sa.func.sum(_logs.c[name]) for name in _TOKEN_COLUMNS)).where(
        _IN_CONVERSATION
    )
)


async def emit_chat_completed(
    unit: Context, conversation_id: str, agent_id: str, reason: str, job_id: str | None = None
) -> str:
    """Emit the event and return its id; the totals stay empty if the conversation was deleted."""
    event = ChatCompleted(conversation_id=conversation_id, agent_id=agent_id, job_id=job_id, reason=reason)
    conversation = await unit.db.get(Conversation, conversation_id)
    if conversation is not None:
        event.message_count = conversation.message_count
        event.duration_ms = _elapsed_ms(conversation.created_at, conversation.last_message_at)
        event.usage = await _usage(unit, conversation_id)
    return unit.emit(event)


async def _usage(unit: Context, conversation_id: str) -> JsonObject | None:
    turns, *sums = (await unit.db.rows(_TOKENS_USED, conversation_id=conversation_id))[0]
    if not turns:
        return None
    usage = ModelUsage(**dict(zip(_TOKEN_COLUMNS, map(int, sums), strict=True)))
    return dict(msgspec.to_builtins(TokenUsage.of(usage)))


def _elapsed_ms(begin: Instant, end: Instant) -> int:
    elapsed = datetime.fromisoformat(end) - datetime.fromisoformat(begin)
    return max(0, round(elapsed.total_seconds() * 1000))
