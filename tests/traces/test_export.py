"""Export of traces to a real receiver, through outages of every kind."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.tracing import names
from retinue.kit.tracing.models import QueuedTracePart
from retinue.kit.tracing.recorder import PartRecorder, start_span
from retinue.traces import receiver
from tests.client import Api
from tests.factories.people import People
from tests.factories.traces import record_part
from tests.traces.exporting import EXPORTERS, SECRET, add_exporter, export_due, read_exporter
from tests.traces.otlp_receiver import OtlpCollector, attributes_of

pytestmark = pytest.mark.one_service("other processes know a new exporter after seconds of real time")

Json = dict[str, Any]


@pytest.fixture(autouse=True)
async def _schedules(service: Service) -> None:
    """Schedules begin when a worker first looks."""
    await service.runner.drain()


async def count_queued(people: People) -> int:
    async with people.context() as ctx:
        return await ctx.system("test").count(QueuedTracePart)


def work_with_a_slow_tool(part: PartRecorder) -> None:
    """Record a model call within a call of a tool that fails."""
    tool = start_span("execute_tool weather", "tool")
    assert tool is not None
    with tool:
        model = start_span("chat smollm2", "model")
        assert model is not None
        with model:
            model.set({"whole": 7, "part": 0.5, "flag": True, "many": ["a", "b"]})
        tool.fail("timeout", "The tool did not answer in time.")


async def test_an_export_is_one_request_with_the_headers_of_its_exporter(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    exporter = await add_exporter(owner, collector)
    await record_part(people, owner.user.tenant_id, work=work_with_a_slow_tool)
    await export_due(service, clock)
    (arrived,) = collector.accepted
    assert (arrived.path, arrived.headers["X-Key"]) == ("/v1/traces", SECRET)
    assert arrived.headers["Content-Type"] == "application/x-protobuf"
    assert arrived.resource["service.name"] == "retinue"
    shown = await read_exporter(owner, exporter)
    assert (shown["status"], shown["sent_spans"], shown["dropped_spans"]) == ("healthy", 3, 0)
    assert shown["last_sent_at"] is not None
    assert await count_queued(people) == 0


async def test_spans_arrive_in_their_tree(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)
    part = await record_part(people, owner.user.tenant_id, work=work_with_a_slow_tool)
    await export_due(service, clock)
    spans = collector.accepted[0].spans
    root, tool, model = spans
    assert [span.name for span in spans] == ["invoke_agent Support", "execute_tool weather", "chat smollm2"]
    assert {span.trace_id.hex() for span in spans} == {part.trace_id}
    assert (root.parent_span_id, tool.parent_span_id) == (b"", root.span_id)
    assert model.parent_span_id == tool.span_id
    assert [span.kind for span in spans] == [1, 3, 3]
    for inner, outer in ((tool, root), (model, tool)):
        assert outer.start_time_unix_nano <= inner.start_time_unix_nano
        assert inner.end_time_unix_nano <= outer.end_time_unix_nano


async def test_spans_arrive_with_their_status_and_attributes(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)
    await record_part(people, owner.user.tenant_id, work=work_with_a_slow_tool)
    await export_due(service, clock)
    spans = collector.accepted[0].spans
    _, tool, model = spans
    assert [span.status.code for span in spans] == [1, 2, 1]
    assert tool.status.message == "The tool did not answer in time."
    assert attributes_of(tool) == {names.ERROR_TYPE: "timeout", names.TENANT_ID: owner.user.tenant_id}
    values = attributes_of(model)
    assert (values["whole"], values["part"], values["flag"]) == (7, 0.5, True)
    assert [value.string_value for value in values["many"].values] == ["a", "b"]


async def test_json_receivers_get_the_same(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector, encoding="json", endpoint=f"{collector.url}/otlp/v1/traces")
    part = await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    (arrived,) = collector.accepted
    assert (arrived.path, arrived.headers["Content-Type"]) == ("/otlp/v1/traces", "application/json")
    assert [span["traceId"] for span in arrived.spans] == [part.trace_id] * 2
    assert [span["kind"] for span in arrived.spans] == [1, 3]


async def test_a_receiver_that_was_down_gets_everything_once(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    exporter = await add_exporter(owner, collector)
    collector.is_down = True
    for number in range(3):
        await record_part(people, owner.user.tenant_id, f"invoke_agent {number}")
        await export_due(service, clock, 30)
    shown = await read_exporter(owner, exporter)
    assert (shown["status"], shown["last_error"]) == ("failing", "The receiver answered 500.")
    assert (await count_queued(people), collector.accepted) == (3, [])
    collector.is_down = False
    await export_due(service, clock, 130)
    assert [name for name in collector.names if name.startswith("invoke_agent")] == [
        f"invoke_agent {number}" for number in range(3)
    ]
    shown = await read_exporter(owner, exporter)
    assert (shown["status"], shown["last_error"], shown["sent_spans"]) == ("healthy", None, 6)
    assert await count_queued(people) == 0


async def test_a_receiver_that_fails_is_asked_less_and_less_often(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)
    collector.is_down = True
    await record_part(people, owner.user.tenant_id)
    for _ in range(24):
        await export_due(service, clock, 10)
    assert 3 <= collector.asked <= 9


async def test_the_pause_that_a_receiver_asks_for_is_kept(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)
    collector.answers = [(429, {"Retry-After": "300"})]
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    for _ in range(4):
        await export_due(service, clock, 60)
    assert (collector.asked, collector.accepted) == (1, [])
    await export_due(service, clock, 70)
    assert len(collector.accepted) == 1


async def test_what_waits_for_fifteen_minutes_is_given_up(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    exporter = await add_exporter(owner, collector)
    collector.is_down = True
    await record_part(people, owner.user.tenant_id)
    for _ in range(9):
        await export_due(service, clock, 125)
    owner = await people.sign_in(owner.user)
    shown = await read_exporter(owner, exporter)
    assert (shown["sent_spans"], shown["dropped_spans"], await count_queued(people)) == (0, 2, 0)
    collector.is_down = False
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock, 125)
    assert len(collector.spans) == 2


async def test_what_waited_for_the_worker_is_not_given_up_at_the_first_failure(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)
    collector.answers = [(503, {})]
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock, 3_600)
    assert (collector.asked, await count_queued(people)) == (1, 1)
    await export_due(service, clock, 10)
    assert len(collector.spans) == 2


async def test_a_batch_that_is_refused_is_dropped_and_the_next_goes_on(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    exporter = await add_exporter(owner, collector)
    collector.answers = [(400, {})]
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    shown = await read_exporter(owner, exporter)
    assert (shown["dropped_spans"], shown["last_error"]) == (2, "The receiver answered 400.")
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    shown = await read_exporter(owner, exporter)
    assert (shown["sent_spans"], shown["dropped_spans"], shown["status"]) == (2, 2, "healthy")


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
async def test_spans_that_the_receiver_rejects_are_counted(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock, encoding: str
) -> None:
    exporter = await add_exporter(owner, collector, encoding=encoding)
    collector.rejects = 1
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    shown = await read_exporter(owner, exporter)
    assert (shown["sent_spans"], shown["dropped_spans"]) == (1, 1)
    assert shown["last_error"] == "The receiver rejected 1 spans of a batch."


@pytest.mark.parametrize("way", ["hangs", "drips"])
async def test_a_receiver_that_hangs_holds_up_nobody(
    owner: Api,
    people: People,
    collector: OtlpCollector,
    service: Service,
    clock: ManualClock,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiver, "TIMEOUT_SECONDS", 0.5)
    exporter = await add_exporter(owner, collector)
    setattr(collector, way, True)
    await record_part(people, owner.user.tenant_id)
    exporting = asyncio.create_task(export_due(service, clock))
    while not collector.asked:
        await asyncio.sleep(0.01)
    begun = asyncio.get_running_loop().time()
    assert (await owner.get("/api/v1/traces")).status == 200
    await record_part(people, owner.user.tenant_id)
    assert asyncio.get_running_loop().time() - begun < 0.4
    await exporting
    assert (await read_exporter(owner, exporter))["status"] == "failing"
    setattr(collector, way, False)
    collector.release.set()
    await export_due(service, clock, 10)
    assert len(collector.spans) == 4


async def test_batches_are_bounded(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector)

    def work(part: PartRecorder) -> None:
        for number in range(199):
            part.start(f"chat {number}", "model", part.root.span.span_id).end()

    for _ in range(6):
        await record_part(people, owner.user.tenant_id, work=work)
    await export_due(service, clock)
    assert [len(one.spans) for one in collector.accepted] == [400, 400, 400]


async def test_a_sample_goes_by_the_trace_and_keeps_failures(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    await add_exporter(owner, collector, sample=0.0)
    await record_part(people, owner.user.tenant_id)
    await record_part(
        people,
        owner.user.tenant_id,
        "invoke_agent Broken",
        work=lambda part: part.root.fail("timeout", "Too late."),
    )
    await export_due(service, clock)
    assert (collector.names, await count_queued(people)) == (["invoke_agent Broken"], 0)


async def test_an_exporter_sees_its_own_tenant_only(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    other = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    await add_exporter(owner, collector)
    await record_part(people, other.user.tenant_id, "invoke_agent Theirs")
    await record_part(people, owner.user.tenant_id, "invoke_agent Mine")
    await export_due(service, clock)
    assert collector.names == ["invoke_agent Mine", "chat smollm2"]


async def test_an_exporter_that_is_off_gets_nothing_and_a_deleted_one_leaves_nothing(
    owner: Api, people: People, collector: OtlpCollector, service: Service, clock: ManualClock
) -> None:
    exporter = await add_exporter(owner, collector)
    collector.is_down = True
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock)
    await owner.patch(f"{EXPORTERS}/{exporter['id']}", {"enabled": False})
    collector.is_down = False
    await record_part(people, owner.user.tenant_id)
    await export_due(service, clock, 130)
    assert (collector.accepted, await count_queued(people)) == ([], 1)
    await owner.delete(f"{EXPORTERS}/{exporter['id']}")
    await export_due(service, clock, 3_700)
    assert await count_queued(people) == 0
