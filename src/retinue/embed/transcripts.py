"""Transcripts of a visitor's conversation, without tools and internal ids."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.engine.parts import FinishReason
from retinue.chat.models import Conversation, Message, Speaker
from retinue.chat.turn.request import session_key
from retinue.embed import visitors
from retinue.embed.schemas import AgentName, PublicSource, Transcript, TranscriptMessage, TranscriptRead
from retinue.kit.context import Context
from retinue.kit.db.statements import record_statement

MAX_TRANSCRIPT_MESSAGES = 100

_messages = Message.__table__
_LATEST = record_statement(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id", type_=sa.Text()))
    .order_by(_messages.c.position.desc())
    .limit(MAX_TRANSCRIPT_MESSAGES),
)


async def read(ctx: Context, agent: Agent, body: TranscriptRead) -> Transcript:
    visitor_id = await visitors.verify_visitor_id(ctx, body.user)
    key = session_key(ctx.principal.id, visitor_id, body.session_id)
    conversation = await ctx.db.find(Conversation, agent_id=agent.id, session_key=key)
    newest_first = (
        await ctx.db.rows(_LATEST, conversation_id=conversation.id) if conversation is not None else []
    )
    return Transcript(
        session_id=body.session_id,
        conversation_id=conversation.id if conversation is not None else None,
        messages=[_shown(message) for message in reversed(newest_first)],
        agent=AgentName.of(agent),
    )


def _shown(message: Message) -> TranscriptMessage:
    details: Any = message.details
    return TranscriptMessage(
        id=message.id,
        role="user" if message.role is Speaker.user else "assistant",
        content=message.content,
        created_at=message.created_at,
        is_waiting=details is not None and details.finish_reason is FinishReason.awaiting_approval,
        sources=[PublicSource.of(source) for source in details.sources] if details is not None else [],
    )
