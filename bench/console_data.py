"""A tenant as large as the console is measured with: many agents and conversations, one long conversation."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import sqlalchemy as sa

from bench.console_second_day import add_members, add_tool
from bench.filling import fill
from bench.retrieval import context
from bench.traces import spans_of_turn
from retinue.agents.models import Agent, AgentStatus, AgentVersion, LogSettings, WebSearch
from retinue.agents.snapshots import build_snapshot
from retinue.chat.engine.parts import FinishReason, ReplyDetails, TokenUsage
from retinue.chat.models import ChatChannel, ChatLog, Conversation, Message, Speaker
from retinue.kit.clock import to_instant
from retinue.kit.context.instance import Instance
from retinue.kit.tracing.models import TracePart

AGENTS, CONVERSATIONS, TURNS = 1_000, 100_000, 500
PROMPT_LENGTH = 20_000
_TOPICS = ("Support", "Returns", "Invoices", "Travel", "Onboarding", "Contracts", "Parcels", "Warranty")
_KINDS = ("desk", "clerk", "helper", "guide", "reviewer", "planner")
_LINE = "Answer in the language of the question, name the paragraph you rely on, and never promise a date.\n"
_REPLY = """\
## Where your parcel is

It left **Hamburg** on Tuesday and waits at the counter of your post office. You can

- collect it until Friday with the card from your letter box,
- have it brought again on any weekday, or
- send it back; then the money arrives within `3` to `5` days.

| Step | Place | When |
|---|---|---|
| Handed in | Hamburg | Mon 10:12 |
| Sorted | Hanover | Tue 02:40 |
| Waiting | Berlin | Wed 08:05 |
"""


class Large(msgspec.Struct):
    """What a measurement opens."""

    agent_id: str
    conversation_id: str
    tool_id: str
    user_id: str


async def fill_tenant(instance: Instance, tenant_id: str, user_id: str, size: int = CONVERSATIONS) -> Large:
    ids = await _agents(instance, tenant_id, user_id)
    await _conversations(instance, tenant_id, user_id, size)
    conversation_id = await _long_conversation(instance, tenant_id, user_id, ids[0])
    await add_members(instance, tenant_id)
    tool_id = await add_tool(instance, tenant_id, user_id)
    return Large(ids[0], conversation_id, tool_id, user_id)


async def _agents(instance: Instance, tenant_id: str, user_id: str) -> list[str]:
    """Each with a published version; the first has the long prompt."""
    made = []
    for number in range(AGENTS):
        prompt = (_LINE * (PROMPT_LENGTH // len(_LINE) + 1))[:PROMPT_LENGTH] if number == 0 else _LINE
        topic, kind = _TOPICS[number % len(_TOPICS)], _KINDS[number // len(_TOPICS) % len(_KINDS)]
        made.append(
            Agent(
                id=f"agt_bench{number:021d}", name=f"{topic} {kind} {number:04d}",
                description=f"Answers questions about {topic.lower()} of region {number % 37}.",
                primary_model="openai_compatible/words", fallback_models=[], system_prompt=prompt,
                status=AgentStatus.published if number % 5 else AgentStatus.draft,
                web_search=WebSearch(), log_settings=LogSettings(), created_by=user_id,
            )
        )  # fmt: skip
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert_many(made)
        snapshots = [msgspec.to_builtins(await build_snapshot(ctx, agent)) for agent in made]
        await ctx.db.insert_many(
            AgentVersion(
                agent_id=agent.id, version=1, snapshot=snapshot, is_published=True, created_by=user_id
            )
            for agent, snapshot in zip(made, snapshots, strict=True)
        )  # fmt: skip
    return [agent.id for agent in made]


async def _conversations(instance: Instance, tenant_id: str, user_id: str, rows: int) -> None:
    """Spread over agents and the last thirty days, each with one turn in the log."""
    days = sa.literal(30.0) / rows

    def at(number: Any) -> Any:
        """The n-th newest has the n-th latest instant."""
        begin = (datetime.now(UTC) - timedelta(days=30)).timestamp()
        seconds = sa.cast(begin + number * days * 86_400, sa.BigInteger())
        if instance.database.dialect == "sqlite":
            return sa.func.strftime("%Y-%m-%dT%H:%M:%S.000000Z", seconds, "unixepoch")
        moment = sa.func.to_timestamp(seconds).op("AT TIME ZONE")(sa.literal("UTC"))
        return sa.func.to_char(moment, 'YYYY-MM-DD"T"HH24:MI:SS".000000Z"')

    def agent(number: Any) -> Any:
        padded = sa.func.substr(sa.cast(number % AGENTS + 1_000_000, sa.Text()), 2)
        return sa.literal("agt_bench" + "0" * 15) + padded

    def conversation(number: Any, text: Any) -> dict[str, Any]:
        when = at(number)
        return {
            "id": sa.literal("conv_bench" + "0" * 14) + text,
            "created_at": when,
            "updated_at": when,
            "last_message_at": when,
            "last_message_hour": sa.func.substr(when, 1, 13),
            "agent_id": agent(number),
            "title": sa.literal("Where is parcel ") + text,
            "status": sa.case((number % 4 == 0, sa.literal("closed")), else_=sa.literal("active")),
        }

    def turn(number: Any, text: Any) -> dict[str, Any]:
        when = at(number)
        return {
            "id": sa.literal("log_bench" + "0" * 14) + text,
            "created_at": when,
            "updated_at": when,
            "agent_id": agent(number),
            "conversation_id": sa.literal("conv_bench" + "0" * 14) + text,
            "message_id": sa.literal("msg_bench" + "0" * 14) + text,
            "response_time_ms": 300 + number % 997,
            "first_token_ms": 100 + number % 313,
        }

    fixed = {
        "tenant_id": tenant_id, "channel": ChatChannel.console, "user_id": user_id, "message_count": 2,
    }  # fmt: skip
    in_tenant = partial(context, instance, tenant_id)
    await fill(in_tenant, Conversation.__table__, rows, fixed, conversation)
    log = {
        "tenant_id": tenant_id, "channel": ChatChannel.console, "user_id": user_id, "message_count": 1,
        "tool_calls": [], "tool_call_count": 0, "has_usage": True, "prompt_tokens": 900,
        "completion_tokens": 120, "cached_tokens": 400, "cache_write_tokens": 0, "reasoning_tokens": 0,
        "cost_usd": 0.002, "usage_by_model": [], "model": "words", "status": "completed",
        "correlation_id": "cor_bench",
    }  # fmt: skip
    await fill(in_tenant, ChatLog.__table__, rows, log, turn)


async def _long_conversation(instance: Instance, tenant_id: str, user_id: str, agent_id: str) -> str:
    """Five hundred turns with tables and lists in the replies, each with its trace."""
    begun = datetime.now(UTC) - timedelta(hours=12)
    last = to_instant(begun + timedelta(minutes=TURNS))
    conversation = Conversation(
        agent_id=agent_id, title="The long one", channel=ChatChannel.console, user_id=user_id,
        message_count=2 * TURNS, last_message_at=last,
    )  # fmt: skip
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert(conversation)
        messages, parts = [], []
        for turn in range(TURNS):
            at, trace_id = to_instant(begun + timedelta(minutes=turn)), f"{turn:032x}"
            details = ReplyDetails(
                model="words", finish_reason=FinishReason.stop, agent_version=1,
                usage=TokenUsage(prompt_tokens=900, completion_tokens=120, total_tokens=1020),
                correlation_id=f"cor_{turn}", trace_id=trace_id, estimated_cost_usd=0.002,
            )  # fmt: skip
            id = conversation.id
            messages += [
                Message(
                    conversation_id=id,
                    created_at=at,
                    role=Speaker.user,
                    content=f"Where is parcel {turn}?",
                    position=2 * turn + 1,
                ),
                Message(
                    conversation_id=id,
                    created_at=at,
                    role=Speaker.assistant,
                    content=_REPLY,
                    position=2 * turn + 2,
                    details=details,
                ),
            ]
            spans = spans_of_turn()
            parts.append(
                TracePart(
                    trace_id=trace_id, root_span_id=spans[0].span_id, is_first=True, kind="turn",
                    name=spans[0].name, status="ok", started_at=at, created_at=at, duration_us=2_000_000,
                    span_count=len(spans), agent_id=agent_id, conversation_id=conversation.id,
                    user_id=user_id, input_tokens=900, output_tokens=120, cost_usd=0.002,
                    correlation_id=f"cor_{turn}", spans=spans,
                )
            )  # fmt: skip
        await ctx.db.insert_many(messages)
        await ctx.db.insert_many(parts)
    return conversation.id
