"""Turns with one model call, whose spans are built from their log entry when a trace is read (ADR 46)."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from retinue.app import Service
from retinue.chat.models import ChatLog
from retinue.kit import timelines
from retinue.kit.clock import ManualClock
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.origin import TraceOrigin
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import path_of
from tests.client import Api
from tests.factories.people import People
from tests.factories.traces import record_part
from tests.traces.exporting import add_exporter, export_due, read_exporter
from tests.traces.otlp_receiver import OtlpCollector
from tests.traces.plain_turns import Asker, Json, answers_of, exported, listed

pytestmark = pytest.mark.one_service("compares figures of one process")

RECORDED = Path(__file__).with_name("plain_turns.json")
"""The answers of the API when every turn had a stored part."""


@pytest.fixture
async def asker(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
) -> Asker:
    await service.runner.drain()
    return Asker(service, people, admin, agent, provider, clock)


async def test_the_api_answers_as_when_every_part_was_stored(asker: Asker, people: People) -> None:
    traces = await asker.ask_all()
    _compare(await answers_of(asker.admin, traces, asker.agent))
    stored = {part.trace_id for part in await stored_parts(people, asker.admin) if part.kind == "turn"}
    assert stored == {traces[way] for way in ("continued", "failed", "stopped")}


@pytest.mark.parametrize("include_content", [False, True])
async def test_receivers_get_what_they_got_when_every_part_was_stored(
    asker: Asker, collector: OtlpCollector, people: People, include_content: bool
) -> None:
    exporter = await add_exporter(asker.admin, collector, encoding="json", include_content=include_content)
    traces = await asker.ask_all()
    await export_due(asker.service, asker.clock)
    _compare({f"export {include_content}": exported(collector)})
    shown = await read_exporter(asker.admin, exporter)
    assert shown["sent_spans"] == len(collector.spans) >= 2 * len(traces)
    await export_due(asker.service, asker.clock)
    assert len(collector.spans) == shown["sent_spans"]


async def test_a_receiver_that_was_down_gets_plain_turns_once(asker: Asker, collector: OtlpCollector) -> None:
    exporter = await add_exporter(asker.admin, collector)
    collector.is_down = True
    for _ in range(3):
        await asker.blocking()
        await export_due(asker.service, asker.clock, 30)
    assert collector.accepted == []
    collector.is_down = False
    await export_due(asker.service, asker.clock, 130)
    assert collector.names == ["invoke_agent Support", "chat test-model"] * 3
    shown = await read_exporter(asker.admin, exporter)
    assert (shown["sent_spans"], shown["dropped_spans"]) == (6, 0)


async def test_what_is_given_up_is_counted_by_its_spans(asker: Asker, collector: OtlpCollector) -> None:
    exporter = await add_exporter(asker.admin, collector)
    collector.is_down = True
    await asker.blocking()
    for _ in range(9):
        await export_due(asker.service, asker.clock, 125)
    admin = await asker.people.super_admin()
    shown = await read_exporter(admin, exporter)
    assert (shown["sent_spans"], shown["dropped_spans"]) == (0, 2)


@pytest.mark.parametrize("way", ["blocking", "streamed", "background", "public"])
async def test_a_plain_turn_writes_no_part(asker: Asker, people: People, way: str) -> None:
    await asker.ways[way]()
    assert await stored_parts(people, asker.admin) == []
    (row,) = (await listed(asker.admin))["data"]
    assert (row["name"], row["kind"], row["span_count"]) == ("invoke_agent Support", "turn", 2)


async def test_a_turn_with_a_correlation_id_of_its_caller_is_found_by_it(
    asker: Asker, people: People
) -> None:
    """Its trace has another number: also if the caller names that of an earlier turn."""
    await asker.blocking()
    (first,) = (await listed(asker.admin))["data"]
    for number, chosen in enumerate((first["correlation_id"], "order-4711")):
        answer = await asker.admin.post(
            path_of(asker.agent), {"message": "Hi"}, headers={"X-Correlation-ID": chosen}
        )
        assert answer.status == 200, answer
        found = (await listed(asker.admin, correlation_id=chosen))["data"]
        assert [row["correlation_id"] for row in found] == [chosen] * len(found)
        assert len({row["trace_id"] for row in found}) == len(found) == 2 - number
        for row in found:
            assert (await asker.trace(row["trace_id"]))["span_count"] == 2
    assert len(await stored_parts(people, asker.admin)) == 2


async def test_a_trace_of_plain_and_other_work_is_one(asker: Asker, people: People) -> None:
    """Work that a plain turn causes hangs on its span, which is the same whenever it is read."""
    await asker.blocking()
    (turn,) = (await listed(asker.admin))["data"]
    (root, _) = (await asker.trace(turn["trace_id"]))["spans"]
    origin = TraceOrigin(turn["trace_id"], root["span_id"])
    asker.clock.advance(1)
    await record_part(people, asker.admin.user.tenant_id, "deliver example.com", "delivery", origin=origin)
    trace = await asker.trace(turn["trace_id"])
    assert [span["kind"] for span in trace["spans"]] == ["turn", "model", "delivery", "model"]
    assert (trace["name"], trace["span_count"]) == ("invoke_agent Support", 4)
    assert trace["usage"] == turn["usage"]
    (entry,) = (await listed(asker.admin))["data"]
    assert entry == turn
    of_trace = (await listed(asker.admin, min_duration_ms=0))["data"]
    assert sorted(row["kind"] for row in of_trace) == ["delivery", "turn"]


async def test_pages_go_through_both_kinds_in_one_order(
    asker: Asker, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        await asker.blocking()
        await record_part(people, asker.admin.user.tenant_id, f"invoke_agent {number}")
        if number % 2:
            asker.clock.advance(1)
    everything = (await listed(asker.admin, per_page=100))["data"]
    assert [row["name"] for row in reversed(everything)] == [
        name for number in range(6) for name in ("invoke_agent Support", f"invoke_agent {number}")
    ]
    # Milestones after every second entry, so that distant pages start from one.
    monkeypatch.setattr(timelines, "MILESTONE_INTERVAL", 2)
    asker.clock.advance(2 * timelines.MILESTONE_TTL_SECONDS)
    admin = await asker.people.super_admin()
    for page in range(1, 5):
        shown = await listed(admin, per_page=3, page=page)
        assert shown["pagination"]["total"] == 12
        assert shown["data"] == everything[3 * page - 3 : 3 * page]
    by_duration = [
        row
        for page in range(1, 5)
        for row in (await listed(admin, sort="-duration_ms", per_page=3, page=page))["data"]
    ]
    assert sorted(by_duration, key=lambda row: row["duration_ms"], reverse=True) == by_duration
    assert {row["trace_id"] for row in by_duration} == {row["trace_id"] for row in everything}


async def test_the_sample_leaves_plain_turns_out(asker: Asker) -> None:
    asker.service.instance.tracing.samples = {asker.admin.user.tenant_id: 0.0}
    await asker.blocking()
    await asker.failed()
    (row,) = (await listed(asker.admin))["data"]
    assert row["status"] == "error"
    asker.service.instance.tracing.samples = {asker.admin.user.tenant_id: 0.5}
    for _ in range(12):
        await asker.blocking()
    kept = [row["trace_id"] for row in (await listed(asker.admin, status="ok"))["data"]]
    assert all(int(trace_id[-8:], 16) < 0x8000_0000 for trace_id in kept)


@pytest.mark.parametrize("retention_days", [0, 3, 400])
async def test_traces_expire_before_the_log_that_holds_them(
    asker: Asker, people: People, retention_days: int
) -> None:
    settings = f"/api/v1/agents/{asker.agent['id']}/log-settings"
    assert (await asker.admin.put(settings, {"retention_days": retention_days})).status == 200
    await asker.blocking()
    days = retention_days if retention_days == 3 else 30
    for passed, left in ((days - 1, 1), (2, 0)):
        asker.clock.advance(passed * 86_400)
        await asker.service.runner.drain()
        admin = await asker.people.super_admin()
        assert (await listed(admin))["pagination"]["total"] == left
    async with people.context(admin.user.tenant_id) as ctx:
        kept = await ctx.db.all(ChatLog)
    assert len(kept) == (0 if retention_days == 3 else 1)
    assert all((log.trace, log.trace_ns) == (None, None) for log in kept)


async def test_a_trace_outlives_its_conversation_and_its_agent(
    asker: Asker, collector: OtlpCollector
) -> None:
    exporter = await add_exporter(asker.admin, collector)
    collector.is_down = True
    await asker.blocking()
    (row,) = (await listed(asker.admin))["data"]
    before = await asker.trace(row["trace_id"])
    deleted = await asker.admin.delete(f"/api/v1/conversations/{row['conversation_id']}")
    assert deleted.status == 204, deleted
    assert await asker.trace(row["trace_id"]) == before
    assert (await asker.admin.delete(f"/api/v1/agents/{asker.agent['id']}")).status == 204
    assert await asker.trace(row["trace_id"]) == before
    assert (await listed(asker.admin, agent_id=asker.agent["id"]))["data"] == [row]
    collector.is_down = False
    await export_due(asker.service, asker.clock, 130)
    assert "chat test-model" in collector.names
    assert (await read_exporter(asker.admin, exporter))["dropped_spans"] == 0


async def stored_parts(people: People, person: Api) -> list[TracePart]:
    async with people.context(person.user.tenant_id) as ctx:
        return await ctx.db.all(TracePart)


def _compare(answers: Json) -> None:
    recorded = msgspec.json.decode(RECORDED.read_bytes())
    for name, answer in answers.items():
        assert answer == recorded[name], name
