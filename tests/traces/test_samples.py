"""Tests of sampled traces: by setting, and by tenant."""

from retinue.app import Service
from retinue.kit.tracing.recorder import PartRecorder
from retinue.traces.directory import ExporterDirectory
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.people import People
from tests.factories.traces import record_part

TRACES = "/api/v1/traces"


def fail(part: PartRecorder) -> None:
    part.root.fail("model_timeout", "The model did not answer in time.")


async def names_of(api: Api) -> list[str]:
    answer = await api.get(TRACES)
    assert answer.status == 200, answer
    return sorted(row["name"] for row in answer.json()["data"])


async def record_both(people: People, tenant_id: str) -> None:
    await record_part(people, tenant_id, "invoke_agent Fine")
    await record_part(people, tenant_id, "invoke_agent Broken", work=fail)


async def set_sample(admin: Api, service: Service, tenant_id: str, share: float | None) -> None:
    answer = await admin.put(f"/api/v1/tenants/{tenant_id}", {"trace_sample": share})
    assert (answer.status, answer.json()["trace_sample"]) == (200, share)
    await service.instance.states[ExporterDirectory].refresh()


async def test_the_setting_leaves_out_what_went_well(make_service: ServiceMaker) -> None:
    people = People(await make_service(trace_sample=0.0))
    admin = await people.super_admin()
    await record_both(people, admin.user.tenant_id)
    assert await names_of(admin) == ["invoke_agent Broken"]


async def test_a_tenant_has_a_share_of_its_own(
    owner: Api, admin: Api, people: People, service: Service
) -> None:
    tenant = owner.user.tenant_id
    await set_sample(admin, service, tenant, 0.0)
    await record_both(people, tenant)
    await record_both(people, admin.user.tenant_id)
    assert await names_of(owner) == ["invoke_agent Broken"]
    assert await names_of(admin) == ["invoke_agent Broken", "invoke_agent Fine"]
    await set_sample(admin, service, tenant, None)
    await record_part(people, tenant, "invoke_agent Later")
    assert await names_of(owner) == ["invoke_agent Broken", "invoke_agent Later"]


async def test_a_share_is_from_0_to_1(owner: Api, admin: Api) -> None:
    for share in (-0.1, 1.5, "all"):
        answer = await admin.put(f"/api/v1/tenants/{owner.user.tenant_id}", {"trace_sample": share})
        assert answer.status == 422, answer
        assert list(answer.details) == ["trace_sample"], answer
