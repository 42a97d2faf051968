"""Plain turns as parts of traces, built from their log entries (ADR 46)."""

from typing import Any

import sqlalchemy as sa

from retinue.chat.engine.parts import ModelSpending
from retinue.chat.models import ChatLog
from retinue.kit.clock import instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.models import TenantRecord, projection
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.purge import PURGE_BATCH_ROWS
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.origin import trace_id_of
from retinue.kit.tracing.plain_turn import PlainTurn, TurnTokens

SPANS_OF_PLAIN_TURN = 2


class TracedTurn(TenantRecord, kw_only=True):
    """The columns of a log entry that tell about the trace of a plain turn."""

    agent_id: str
    conversation_id: str
    message_id: str
    channel: str
    user_id: str | None = None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    usage_by_model: list[ModelSpending]
    model: str
    correlation_id: str
    trace: PlainTurn
    trace_ns: int


projection(ChatLog)(TracedTurn)

_logs = ChatLog.__table__
TRACED_TURN_COLUMNS = tuple(_logs.c[name] for name in TracedTurn.__shape__.names)

_OF_AGENT = record_statement(
    TracedTurn,
    sa.select(*TRACED_TURN_COLUMNS)
    .where(_logs.c.agent_id == sa.bindparam("agent_id"), _logs.c.trace_ns.is_not(None))
    .limit(PURGE_BATCH_ROWS),
)


def forgetting_statement(condition: Any) -> Statement[Any]:
    """Build a statement that removes the trace from up to `PURGE_BATCH_ROWS` log entries."""
    batch = sa.select(_logs.c.id).where(condition, _logs.c.trace_ns.is_not(None)).limit(PURGE_BATCH_ROWS)
    forgotten = dict.fromkeys(("trace", "trace_ns"), sa.null())
    return Statement(sa.update(_logs).where(_logs.c.id.in_(batch)).values(forgotten))


FORGET_TRACES = forgetting_statement(in_list(_logs.c.id, "ids"))


async def keep_traces(ctx: Context, agent_id: str) -> None:
    """Store the traces of an agent's plain turns as parts, because its log is deleted with the agent.

    They keep their ids: exporters may be waiting for them.
    """
    while turns := await ctx.db.rows(_OF_AGENT, agent_id=agent_id):
        await ctx.db.insert_many([part_of_turn(turn) for turn in turns])
        await ctx.db.execute(FORGET_TRACES, ids=list_parameter(turn.id for turn in turns))


def turn_tokens(turn: ChatLog | TracedTurn) -> TurnTokens:
    return (
        turn.prompt_tokens,
        turn.completion_tokens,
        turn.cached_tokens,
        turn.cache_write_tokens,
        turn.reasoning_tokens,
    )


def part_of_turn(turn: TracedTurn) -> TracePart:
    """Return the part that another turn would have stored."""
    told = turn.trace
    return TracePart(
        id=turn.id,
        created_at=turn.created_at,
        updated_at=turn.updated_at,
        tenant_id=turn.tenant_id,
        trace_id=trace_id_of(turn.correlation_id),
        root_span_id=told.root_span_id,
        is_first=True,
        kind="turn",
        name=told.name,
        status="ok",
        started_at=instant_from_timestamp(told.started_ns / 1e9),
        duration_us=turn.trace_ns // 1_000,
        span_count=SPANS_OF_PLAIN_TURN,
        agent_id=turn.agent_id,
        conversation_id=turn.conversation_id,
        user_id=turn.user_id,
        input_tokens=turn.prompt_tokens,
        output_tokens=turn.completion_tokens,
        cached_tokens=turn.cached_tokens,
        cost_usd=turn.usage_by_model[0].estimated_cost_usd,
        correlation_id=turn.correlation_id,
        spans=told.spans(
            duration_ns=turn.trace_ns,
            message_id=turn.message_id,
            channel=turn.channel,
            model=turn.model,
            tokens=turn_tokens(turn),
        ),
    )
