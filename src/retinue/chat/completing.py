"""Telling that a conversation ended, with what it came to."""

from datetime import datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.events import ChatCompleted
from retinue.chat.models import ChatLog, Conversation
from retinue.chat.words import TokenUsage
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

_logs = ChatLog.__table__
_USED: Statement[Any] = Statement(
    sa.select(
        sa.func.count(), sa.func.sum(_logs.c.prompt_tokens), sa.func.sum(_logs.c.completion_tokens)
    ).where(_logs.c.conversation_id == sa.bindparam("conversation_id"), _logs.c.has_usage == sa.true())
)


async def tell_completed(
    unit: Context, conversation_id: str, agent_id: str, reason: str, job_id: str | None = None
) -> str:
    """The id of the event; of a conversation that is gone there are no numbers."""
    told = ChatCompleted(conversation_id=conversation_id, agent_id=agent_id, job_id=job_id, reason=reason)
    conversation = await unit.db.get(Conversation, conversation_id)
    if conversation is not None:
        told.message_count = conversation.message_count
        told.duration_ms = _between_ms(conversation.created_at, conversation.last_message_at)
        told.usage = await _usage(unit, conversation_id)
    return unit.emit(told)


async def _usage(unit: Context, conversation_id: str) -> dict[str, Any] | None:
    turns, prompt, completion = (await unit.db.rows(_USED, conversation_id=conversation_id))[0]
    if not turns:
        return None
    return dict(msgspec.to_builtins(TokenUsage().plus(int(prompt), int(completion))))


def _between_ms(begin: Instant, end: Instant) -> int:
    taken = datetime.fromisoformat(end) - datetime.fromisoformat(begin)
    return max(0, round(taken.total_seconds() * 1000))
