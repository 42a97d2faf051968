"""From a payload to its workflow: once, whatever happens in between, or never and said why."""

import pytest

from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.files.models import File
from retinue.incoming import intake
from retinue.kit.jobs.models import Job
from tests.client import Api
from tests.factories.incoming import PATH, address, list_received, make_hook
from tests.factories.people import People
from tests.incoming.conftest import BROKEN, REFUSING, STARTED, WORKFLOW, with_workflows


async def list_starts(people) -> list[File]:
    async with people.context() as ctx:
        return await ctx.system("test").all(File, purpose=STARTED)


async def test_a_payload_starts_its_workflow_once(service, admin, api, starts, people) -> None:
    hook = await make_hook(admin, workflow_id=WORKFLOW)
    receipt = (await api.post(address(hook), {"order": 17})).json()
    assert receipt["workflow_execution_id"] is None
    assert starts.asked == []
    await service.runner.drain()
    (entry,) = await list_received(admin, hook)
    (row,) = await list_starts(people)
    assert (entry["status"], entry["workflow_execution_id"]) == ("triggered", row.id)
    (start,) = starts.asked
    assert (start.workflow_id, start.input, start.trigger, start.source_id) == (
        WORKFLOW,
        {"order": 17},
        "webhook",
        receipt["id"],
    )
    await service.runner.drain()
    assert len(await list_starts(people)) == 1


async def test_what_was_taken_before_a_restart_is_processed_after_it(service, admin, api, starts) -> None:
    hook = await make_hook(admin, workflow_id=WORKFLOW)
    large = {"text": "x" * 100_000}
    for payload in ({"n": 1}, large):
        assert (await api.post(address(hook), payload)).status == 200
    await service.stop()
    again = Service(service.settings, service.instance.clock, with_workflows(starts))
    await again.start()
    try:
        await again.runner.drain()
        person = Api(again).signed_in(admin.token)
        assert [entry["status"] for entry in await list_received(person, hook)] == ["triggered"] * 2
        assert [start.input for start in starts.asked] == [{"n": 1}, large]
    finally:
        await again.stop()


async def test_a_workflow_that_cannot_be_started_is_said_in_the_log(
    service, admin, api, starts, people, clock
) -> None:
    cases = {
        "wf_unknown": "The workflow does not exist.",
        REFUSING: "The workflow is not published.",
        BROKEN: "The workflow could not be started.",
    }
    hooks = {workflow: await make_hook(admin, workflow_id=workflow) for workflow in cases}
    for hook in hooks.values():
        await api.post(address(hook), {})
    circle = await make_hook(admin, workflow_id=WORKFLOW)
    await api.post(address(circle), {}, headers={"X-Service-Hops": "8"})
    for _ in range(6):
        await service.runner.drain()
        clock.advance(400)
    admin = await people.super_admin()
    for workflow, error in cases.items():
        (entry,) = await list_received(admin, hooks[workflow])
        assert (entry["status"], entry["error"]) == ("failed", error)
        assert entry["workflow_execution_id"] is None
    (entry,) = await list_received(admin, circle)
    assert (entry["status"], "chain" in entry["error"]) == ("failed", True)
    # What a starter did before it failed did not happen.
    assert await list_starts(people) == []
    assert len([start for start in starts.asked if start.workflow_id == BROKEN]) == 4
    async with people.context() as ctx:
        left = await ctx.system("test").all(Job, kind="incoming.trigger_workflow")
        assert left == []


async def test_without_workflows_a_payload_is_taken_and_marked_as_failed(make_service) -> None:
    service = await make_service(manifests=DOMAINS)
    if any(manifest.workflow_starters for manifest in DOMAINS):
        pytest.skip("this product runs workflows by itself")
    admin = await People(service).super_admin()
    hook = await make_hook(admin, workflow_id=WORKFLOW)
    assert (await Api(service).post(address(hook), {})).status == 200
    await service.runner.drain()
    (entry,) = await list_received(admin, hook)
    assert (entry["status"], entry["error"]) == ("failed", "This instance runs no workflows.")


async def test_a_payload_can_be_taken_once_more(service, admin, api, starts, people) -> None:
    hook = await make_hook(admin, dedupe_header="X-Id")
    first = (await api.post(address(hook), {"n": 1}, headers={"X-Id": "1"})).json()
    await api.post(address(hook), {"n": 1}, headers={"X-Id": "1"})
    (duplicate,) = await list_received(admin, hook, status="duplicate")
    await admin.put(f"{PATH}/{hook['id']}", {"workflow_id": WORKFLOW})
    for id in (first["id"], duplicate["id"]):
        answer = await admin.post(f"{PATH}/{hook['id']}/events/{id}/replay")
        assert answer.status == 202
        replayed = answer.json()
        assert (replayed["replay_of"], replayed["status"]) == (first["id"], "received")
        assert replayed["id"] != first["id"]
    await service.runner.drain()
    assert [start.input for start in starts.asked] == [{"n": 1}] * 2
    assert len(await list_received(admin, hook, status="triggered")) == 2
    assert (await admin.get(f"{PATH}/{hook['id']}")).json()["event_count"] == 1
    await admin.put(f"{PATH}/{hook['id']}", {"active": False})
    answer = await admin.post(f"{PATH}/{hook['id']}/events/{first['id']}/replay")
    assert (answer.status, answer.code) == (409, "webhook_inactive")
    other = await make_hook(admin)
    for path in (f"{first['id']}/replay", "nothing/replay"):
        answer = await admin.post(f"{PATH}/{other['id']}/events/{path}")
        assert (answer.status, answer.code) == (404, "event_not_found")


async def test_there_is_an_end_to_what_may_wait(service, admin, api, monkeypatch) -> None:
    monkeypatch.setattr(intake, "MAX_QUEUED_PAYLOADS", 2)
    hook, other = [await make_hook(admin, workflow_id=WORKFLOW) for _ in range(2)]
    statuses = [(await api.post(address(hook), {})).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = await api.post(address(hook), {})
    assert (refused.code, refused.details["limit"]) == ("rate_limited", 2)
    assert int(refused.headers["retry-after"]) > 0
    assert (await api.post(address(other), {})).status == 200
    await service.runner.drain()
    assert (await api.post(address(hook), {})).status == 200
