"""What lists of traces cost when few parts are stored and when many are, and what encoding a span costs.

python -m bench.traces [parts]
"""

import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa

from bench.figures import KEY, Figure, tell
from bench.filling import fill
from bench.forms import cost_ms
from bench.retrieval import context
from retinue.kit.context.instance import Instance
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.origin import new_span_id
from retinue.kit.tracing.spans import Span
from retinue.tenants.models import Plan, Tenant
from retinue.traces import queries
from retinue.traces.otlp import OutgoingSpan, encode_json
from retinue.traces.otlp_protobuf import encode_protobuf
from retinue.traces.schemas import TraceList
from retinue.wiring import close_instance, open_instance

FEW, MANY = 1_000, 1_000_000
IN_A_TRACE, CONVERSATIONS, AGENTS, FAILED_EVERY = 4, 5_000, 20, 50
BATCH = 512
MAX_ENCODE_MICROSECONDS = 60.0
MOST_GROWTH = 2.0
COUNTING_MS = 20.0
"""Counting, and the way from a milestone to the page: both go through ten thousand entries."""


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


def asked(instance: Instance, tenant_id: str, rows: int) -> dict[str, Callable[[], Awaitable[int]]]:
    ctx = context(instance, tenant_id, reads_outside_transaction=True)

    def listed(**query: Any) -> Callable[[], Awaitable[int]]:
        async def ask() -> int:
            return len((await queries.page(ctx, TraceList(**query))).items)

        return ask

    async def shown() -> int:
        return len(await queries.parts_of_trace(ctx, f"trace_{rows // IN_A_TRACE // 2}"))

    return {
        "first page": listed(),
        "the page in the middle": listed(page=rows // IN_A_TRACE // 40),
        "by agent": listed(agent_id="agt_7"),
        "by conversation": listed(conversation_id="conv_7"),
        "that failed": listed(status="error"),
        "by error code": listed(error_code="timeout"),
        "by kind": listed(kind="turn"),
        "that took long": listed(min_duration_ms=9_000),
        "by correlation id": listed(correlation_id=f"cor_{rows // IN_A_TRACE // 2}"),
        "one trace": shown,
    }


async def read(instance: Instance, tenant_id: str, rows: int) -> dict[str, float]:
    costs = {}
    for name, ask in asked(instance, tenant_id, rows).items():
        began = time.perf_counter()
        found = await ask()
        first_ms = 1000 * (time.perf_counter() - began)
        sys.stdout.write(f"{rows:,} parts, {name}: {found} found, the first time in {first_ms:.1f} ms\n")
        assert found, name
        costs[name] = await cost_ms(instance, ask)
    return costs


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
    with tempfile.TemporaryDirectory() as folder:
        key = Secret(KEY["RETINUE_MASTER_KEY"])
        instance = await open_instance(
            Settings(data_dir=Path(folder), database_url=url, worker="off", master_key=key)
        )
        try:
            return encoding() + await _figures(instance, url, many)
        finally:
            await close_instance(instance)


async def _figures(instance: Instance, url: str, many: int) -> list[Figure]:
    costs = []
    for rows in (FEW, many):
        async with context(instance, "") as ctx:
            tenant = await ctx.system("bench").insert(Tenant(name=f"{rows}", plan=Plan.enterprise))
        await fill_parts(instance, tenant.id, rows)
        if url:
            connection = await asyncpg.connect(url)
            await connection.execute("VACUUM ANALYZE trace_parts")
            await connection.close()
        costs.append(await read(instance, tenant.id, rows))
    of_few, of_many = costs
    return [
        Figure(
            f"traces, {name}: {of_few[name]:.2f} ms of {FEW:,}, of {many:,}",
            of_many[name],
            "ms",
            MOST_GROWTH * of_few[name] + COUNTING_MS,
        )
        for name in of_few
    ]


if __name__ == "__main__":
    tell(measure, MANY)
