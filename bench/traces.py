"""What lists of traces cost with few and with many parts and plain turns, and what encoding a span costs.

python -m bench.traces [parts]
"""

import time
from functools import partial
from typing import Any

import sqlalchemy as sa

from bench.figures import Figure, tell
from bench.filling import fill
from bench.growth import MANY, Question, analyse, compare, opened
from bench.retrieval import context
from retinue.agents.models import Agent, LogSettings, WebSearch
from retinue.chat.engine.parts import ModelSpending
from retinue.chat.models import ChatLog
from retinue.kit.context.instance import Instance
from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.origin import new_span_id, trace_id_of
from retinue.kit.tracing.plain_turn import PlainTurn
from retinue.kit.tracing.spans import Span
from retinue.traces import queries
from retinue.traces.otlp import OutgoingSpan, encode_json
from retinue.traces.otlp_protobuf import encode_protobuf
from retinue.traces.schemas import TraceList

IN_A_TRACE, CONVERSATIONS, AGENTS, FAILED_EVERY = 4, 5_000, 20, 50
BATCH = 512
MAX_ENCODE_MICROSECONDS = 60.0
DIGITS, LETTERS = "0189", "vwxy"


def spans_of_turn() -> list[Span]:
    """A turn with a model call, a tool and a second model call."""
    root = Span(new_span_id(), None, "invoke_agent Support", "turn", 1_800_000_000_000_000_000, 2_000_000_000)
    root.attributes.update(
        {names.OPERATION: "invoke_agent", names.AGENT_NAME: "Support", names.COST_USD: 0.01}
    )
    spans = [root]
    for kind, name in (("model", "chat gpt-4o"), ("tool", "execute_tool weather"), ("model", "chat gpt-4o")):
        span = Span(new_span_id(), root.span_id, name, kind, root.started_ns + 1_000, 500_000_000)  # type: ignore[arg-type]
        span.attributes.update(
            {
                names.OPERATION: "chat",
                names.PROVIDER: "openai",
                names.REQUEST_MODEL: "gpt-4o",
                names.RESPONSE_MODEL: "gpt-4o-2026-08-06",
                names.REQUEST_TEMPERATURE: 0.7,
                names.REQUEST_MAX_TOKENS: 1024,
                names.RESPONSE_FINISH_REASONS: ["stop"],
                names.TIME_TO_FIRST_CHUNK: 0.35,
                names.INPUT_TOKENS: 1200,
                names.OUTPUT_TOKENS: 80,
                names.CACHE_READ_TOKENS: 1000,
                names.SERVER_ADDRESS: "api.example.com",
            }
        )
        spans.append(span)
    return spans


async def fill_parts(instance: Instance, tenant_id: str, rows: int) -> None:
    def varying(number: Any, text: Any) -> dict[str, Any]:
        at = sa.literal("2026-11-15T08:30:00.") + text
        trace = sa.cast(number // IN_A_TRACE, sa.Text())
        return {
            "id": sa.literal(tenant_id) + text,
            "created_at": at,
            "updated_at": at,
            "started_at": at,
            "trace_id": sa.literal("trace_") + trace,
            "correlation_id": sa.literal("cor_") + trace,
            "is_first": number % IN_A_TRACE == 0,
            "agent_id": sa.literal("agt_") + sa.cast(number % AGENTS, sa.Text()),
            "conversation_id": sa.literal("conv_") + sa.cast(number % CONVERSATIONS, sa.Text()),
            "error_code": sa.case((number % FAILED_EVERY == 0, sa.literal("timeout")), else_=sa.null()),
            "duration_us": number % 997 * 10_000,
            "kind": sa.case((number % 3 == 0, sa.literal("turn")), else_=sa.literal("delivery")),
        }

    fixed = {
        "tenant_id": tenant_id, "root_span_id": "a" * 16, "name": "invoke_agent Support",
        "status": "ok", "span_count": 4, "user_id": "usr_1", "input_tokens": 0, "output_tokens": 0,
        "cached_tokens": 0, "spans": spans_of_turn(),
    }  # fmt: skip
    await fill(partial(context, instance, tenant_id), TracePart.__table__, rows, fixed, varying)


def _letters_of(digits: Any) -> Any:
    """Return a text without the digits that ids do not have."""
    for digit, letter in zip(DIGITS, LETTERS, strict=True):
        digits = sa.func.replace(digits, digit, letter)
    return digits


def plain_correlation_id(number: int) -> str:
    return f"cor_{'a' * 19}{f'{number:07}'.translate(str.maketrans(DIGITS, LETTERS))}"


async def fill_plain_turns(instance: Instance, tenant_id: str, rows: int) -> None:
    """As many plain turns as there are parts, at the same times."""

    def varying(number: Any, text: Any) -> dict[str, Any]:
        at = sa.literal("2026-11-15T08:30:00.") + text
        # Agents are told apart by the last of their ids; those of two tenants must differ.
        agent = sa.literal(f"agt_{tenant_id}_") + sa.cast(number % AGENTS, sa.Text())
        return {
            "id": sa.literal(f"log_{tenant_id}") + text,
            "created_at": at,
            "updated_at": at,
            "correlation_id": sa.literal(f"cor_{'a' * 19}") + _letters_of(text),
            "agent_id": agent,
            "conversation_id": sa.literal("conv_") + sa.cast(number % CONVERSATIONS, sa.Text()),
            "trace_ns": number % 997 * 10_000_000,
        }

    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert_many(
            [
                Agent(
                    id=f"agt_{tenant_id}_{number}", name=f"Agent {number}", description="",
                    primary_model="openai/gpt-4o", fallback_models=[], system_prompt="",
                    web_search=WebSearch(), log_settings=LogSettings(), created_by="usr_1",
                )
                for number in range(AGENTS)
            ]
        )  # fmt: skip
    plain = PlainTurn(
        root_span_id="a" * 16, model_span_id="b" * 16, name="invoke_agent Support",
        started_ns=1_800_000_000_000_000_000, model_after_ns=1_000, model_ns=500_000_000, agent_version=1,
        finish_reason="stop", server_address="api.example.com", server_port=443, temperature=0.7,
        max_tokens=1024, is_streaming=True, output_attempt=None, first_chunk_s=0.35,
        response_model="gpt-4o-2026-08-06", model_finish_reason="stop",
    )  # fmt: skip
    tokens = {
        "prompt_tokens": 1200, "completion_tokens": 80, "cached_tokens": 1000, "cache_write_tokens": 0,
        "reasoning_tokens": 0,
    }  # fmt: skip
    spent = ModelSpending(
        model="openai/gpt-4o", calls=1, total_tokens=1280, estimated_cost_usd=0.01, **tokens
    )
    fixed = {
        "tenant_id": tenant_id, "message_id": "msg_1", "channel": "console", "user_id": "usr_1",
        "user_message": "Where is my parcel?" * 10, "assistant_message": "It waits for you. " * 30,
        "tool_calls": [], "tool_call_count": 0, "message_count": 2, "has_usage": True, **tokens,
        "cost_usd": 0.01, "usage_by_model": [spent], "model": "openai/gpt-4o", "response_time_ms": 2_000,
        "status": "completed", "trace": plain,
    }  # fmt: skip
    await fill(partial(context, instance, tenant_id), ChatLog.__table__, rows, fixed, varying)


def asked(instance: Instance, tenant_id: str, rows: int) -> dict[str, Question]:
    ctx = context(instance, tenant_id, reads_outside_transaction=True)

    def listed(**query: Any) -> Question:
        async def ask() -> int:
            return len((await queries.page(ctx, TraceList(**query))).items)

        return ask

    async def shown() -> int:
        return len(await queries.parts_of_trace(ctx, f"trace_{rows // IN_A_TRACE // 2}"))

    async def plain_shown() -> int:
        return len(await queries.parts_of_trace(ctx, trace_id_of(plain_correlation_id(rows // 2))))

    return {
        "first page": listed(),
        "the page in the middle": listed(page=rows // IN_A_TRACE // 40),
        "by agent": listed(agent_id="agt_7"),
        "by the agent of plain turns": listed(agent_id=f"agt_{tenant_id}_7"),
        "by user": listed(user_id="usr_1"),
        "by duration, of turns": listed(kind="turn", min_duration_ms=9_000),
        "by conversation": listed(conversation_id="conv_7"),
        "that failed": listed(status="error"),
        "by error code": listed(error_code="timeout"),
        "by kind": listed(kind="turn"),
        "that took long": listed(min_duration_ms=9_000),
        "by correlation id": listed(correlation_id=f"cor_{rows // IN_A_TRACE // 2}"),
        "a plain turn by correlation id": listed(correlation_id=plain_correlation_id(rows // 2)),
        "one trace": shown,
        "the trace of a plain turn": plain_shown,
    }


def encoding() -> list[Figure]:
    spans = [OutgoingSpan("b" * 32, span) for _ in range(BATCH // 4) for span in spans_of_turn()]
    figures = []
    for name, encode in (("protobuf", encode_protobuf), ("JSON", encode_json)):
        encode({}, spans)
        began = time.process_time()
        for _ in range(10):
            encode({"service.name": "retinue"}, spans)
        micros = (time.process_time() - began) * 1e6 / 10 / len(spans)
        figures.append(Figure(f"encode a span as {name}", micros, "us", MAX_ENCODE_MICROSECONDS))
    return figures


async def measure(url: str = "", many: int = MANY) -> list[Figure]:
    async def fill_analysed(instance: Instance, tenant_id: str, rows: int) -> None:
        await fill_parts(instance, tenant_id, rows)
        await fill_plain_turns(instance, tenant_id, rows)
        await analyse(url, "trace_parts", "chat_logs")

    # The entries are of a certain day.
    async with opened(url, trace_retention_days=36_500) as instance:
        figures = await compare(
            instance,
            "traces",
            many,
            fill=fill_analysed,
            ask=asked,
            is_right=lambda _name, shown: shown > 0,
        )
    return encoding() + figures


if __name__ == "__main__":
    tell(measure, MANY)
