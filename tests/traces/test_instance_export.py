"""The operator's exporter: the spans of every tenant, to an address that tenants cannot use."""

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.secrets import Secret
from retinue.kit.tracing import names
from retinue.kit.tracing.models import QueuedTracePart, TracePart
from retinue.traces.models import InstanceTraceExport
from tests.conftest import ServiceMaker
from tests.factories.people import People
from tests.factories.traces import record_part
from tests.traces.exporting import EXPORTERS, export_due
from tests.traces.otlp_receiver import OtlpCollector, attributes_of


@pytest.fixture
async def service(make_service: ServiceMaker, collector: OtlpCollector) -> Service:
    """A production instance, whose tenants may not call loopback."""
    made = await make_service(
        base_url="https://retinue.example.com",
        egress_allow=(),
        otlp_endpoint=f"{collector.url}/otlp",
        otlp_headers=Secret("x-scope=Retinue%20prod,authorization=Basic abc"),
        otel_service_name="assistants",
        otel_resource_attributes="deployment.environment.name=prod,team=a%2Cb",
    )
    await made.runner.drain()
    return made


async def test_the_operator_gets_the_spans_of_every_tenant(
    service: Service, people: People, collector: OtlpCollector, clock: ManualClock
) -> None:
    first, second = await people.tenant("First"), await people.tenant("Second")
    await record_part(people, first.id, "invoke_agent One")
    await record_part(people, second.id, "invoke_agent Two")
    await export_due(service, clock)
    (arrived,) = collector.accepted
    assert arrived.path == "/otlp/v1/traces"
    assert (arrived.headers["x-scope"], arrived.headers["Authorization"]) == ("Retinue prod", "Basic abc")
    assert arrived.resource["service.name"] == "assistants"
    assert arrived.resource["deployment.environment.name"] == "prod"
    assert arrived.resource["team"] == "a,b"
    tenants = [attributes_of(span)[names.TENANT_ID] for span in arrived.spans]
    assert tenants == [first.id, first.id, second.id, second.id]
    async with people.context() as ctx:
        system = ctx.system("test")
        assert await system.count(QueuedTracePart) == 0
        state = await system.get(InstanceTraceExport, "instance")
    assert state is not None
    assert (state.sent_spans, state.dropped_spans, state.last_error) == (4, 0, None)


async def test_an_outage_is_kept_in_mind_and_bridged(
    service: Service, people: People, collector: OtlpCollector, clock: ManualClock
) -> None:
    tenant = await people.tenant("First")
    collector.is_down = True
    await record_part(people, tenant.id)
    for _ in range(24):
        await export_due(service, clock, 10)
    assert 3 <= collector.asked <= 9
    async with people.context() as ctx:
        state = await ctx.system("test").get(InstanceTraceExport, "instance")
    assert state is not None
    assert (state.last_error, state.sent_spans) == ("The receiver answered 500.", 0)
    collector.is_down = False
    await export_due(service, clock, 130)
    assert len(collector.spans) == 2


async def test_tenants_cannot_use_the_operators_address(people: People, collector: OtlpCollector) -> None:
    owner = await people.signed_in(Role.tenant_admin)
    for endpoint in (collector.url, f"{collector.url}/otlp"):
        answer = await owner.post(EXPORTERS, {"name": "Own", "endpoint": endpoint})
        assert (answer.status, list(answer.details)) == (422, ["endpoint"])


async def test_parts_that_are_only_exported_are_kept_for_an_hour(
    make_service: ServiceMaker, collector: OtlpCollector, clock: ManualClock
) -> None:
    service = await make_service(traces=False, otlp_endpoint=collector.url)
    await service.runner.drain()
    people = People(service)
    tenant = await people.tenant("Unstored")
    await record_part(people, tenant.id)
    await export_due(service, clock)
    assert len(collector.spans) == 2
    await export_due(service, clock, 3_590)
    async with people.context() as ctx:
        assert await ctx.system("test").count(TracePart) == 1
    await export_due(service, clock, 3_610)
    async with people.context() as ctx:
        assert await ctx.system("test").count(TracePart) == 0
