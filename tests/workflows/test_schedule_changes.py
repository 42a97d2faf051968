"""Tests of schedules that are changed, and of their previews."""

from datetime import datetime
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.factories.people import People
from tests.factories.workflows import PATH, execution, executions, make_workflow, node

PREVIEW = "/api/v1/schedules/preview"
Json = dict[str, Any]


async def _schedule(admin: Api, workflow: Json, **body: Any) -> Json:
    answer = await admin.post(f"{PATH}/{workflow['id']}/schedules", {"cron": "@yearly", **body})
    assert answer.status == 201, answer
    return answer.json()["data"]


async def _change(admin: Api, workflow: Json, schedule: Json, **body: Any) -> Json:
    answer = await admin.patch(f"{PATH}/{workflow['id']}/schedules/{schedule['id']}", body)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def test_a_schedule_fires_at_its_new_times_with_its_new_input(
    service: Service, admin: Api, people: People, clock: ManualClock
) -> None:
    admin = await people.signed_in(Role.tenant_admin, await people.tenant())
    workflow = await make_workflow(admin, node("a"))
    made = await _schedule(admin, workflow, cron="*/5 * * * *")
    changed = await _change(admin, workflow, made, cron="*/20 * * * *", input={"x": 1})
    assert changed.keys() == made.keys()
    assert (changed["cron"], changed["input"], changed["active"]) == ("*/20 * * * *", {"x": 1}, True)
    assert changed["next_run_at"][14:16] in {"00", "20", "40"}
    at = datetime.fromisoformat(changed["next_run_at"])
    clock.advance(at.timestamp() - clock.time() + 1)
    await service.runner.drain()
    admin = await people.sign_in(admin.user)
    (fired,) = await executions(admin, workflow)
    assert (await execution(admin, workflow, fired["id"]))["input"] == {"x": 1}


async def test_a_schedule_is_switched_off_and_on(service: Service, admin: Api, clock: ManualClock) -> None:
    workflow = await make_workflow(admin, node("a"))
    made = await _schedule(admin, workflow, cron="*/5 * * * *")
    off = await _change(admin, workflow, made, active=False)
    assert (off["active"], off["next_run_at"], off["cron"]) == (False, None, "*/5 * * * *")
    clock.advance(600)
    await service.runner.drain()
    assert await executions(admin, workflow) == []
    on = await _change(admin, workflow, made, active=True)
    assert datetime.fromisoformat(on["next_run_at"]).timestamp() > clock.time()
    assert await _change(admin, workflow, made) == on


async def test_the_time_zone_moves_the_times(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    made = await _schedule(admin, workflow, cron="0 12 * * *")
    moved = await _change(admin, workflow, made, timezone="Asia/Tokyo")
    assert (made["next_run_at"][11:16], moved["next_run_at"][11:16]) == ("12:00", "03:00")
    assert (await _change(admin, workflow, made, timezone=""))["timezone"] == "UTC"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cron": "* * * *"}, "cron"),
        ({"cron": "61 * * * *"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": "../etc/passwd"}, "timezone"),
    ],
)
async def test_times_that_make_no_sense_are_refused(admin: Api, body: Json, field: str) -> None:
    workflow = await make_workflow(admin, node("a"))
    made = await _schedule(admin, workflow)
    answer = await admin.patch(f"{PATH}/{workflow['id']}/schedules/{made['id']}", body)
    assert (answer.status, list(answer.details)) == (422, [field])
    previewed = await admin.post(PREVIEW, {"cron": "@daily", **body})
    assert (previewed.status, previewed.details) == (422, answer.details)
    assert (await admin.get(f"{PATH}/{workflow['id']}/schedules")).json()["data"] == [made]


async def test_the_schedule_of_a_trigger_follows_the_trigger(admin: Api) -> None:
    trigger = {"type": "schedule", "config": {"cron": "5 * * * *"}}
    workflow = await make_workflow(admin, node("a"), trigger=trigger)
    (made,) = (await admin.get(f"{PATH}/{workflow['id']}/schedules")).json()["data"]
    path = f"{PATH}/{workflow['id']}/schedules/{made['id']}"
    refused = await admin.patch(path, {"cron": "6 * * * *", "input": 7})
    assert (refused.status, sorted(refused.details)) == (422, ["cron", "input"])
    off = await _change(admin, workflow, made, cron="5 * * * *", active=False)
    assert (off["active"], off["next_run_at"]) == (False, None)


async def test_a_schedule_is_changed_only_below_its_own_workflow(admin: Api, people: People) -> None:
    workflow, other = await make_workflow(admin, node("a")), await make_workflow(admin, node("a"))
    made = await _schedule(admin, workflow)
    answer = await admin.patch(f"{PATH}/{other['id']}/schedules/{made['id']}", {"active": False})
    assert answer.code == "schedule_not_found"
    viewer = await people.signed_in(Role.viewer)
    path = f"{PATH}/{workflow['id']}/schedules/{made['id']}"
    assert (await viewer.patch(path, {"active": False})).status == 403


async def test_a_preview_says_when_a_schedule_would_fire(admin: Api, clock: ManualClock) -> None:
    answer = await admin.post(PREVIEW, {"cron": "0 8 * * mon-fri", "timezone": "Europe/Berlin"})
    assert answer.status == 200, answer
    found = answer.json()["data"]
    assert found["words"] == "At 08:00 on Monday to Friday"
    times = [datetime.fromisoformat(one) for one in found["next_times"]]
    assert len(times) == 5
    assert times == sorted(times)
    assert times[0].timestamp() > clock.time()
    assert {one.isoweekday() for one in times} <= set(range(1, 6))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        # 2:30 does not occur on 28 March: it fires when the clocks go forward.
        ("2027-03-27T12:00", ["2027-03-28T01:00", "2027-03-29T00:30"]),
        # It occurs twice on 31 October, and fires the first time.
        ("2027-10-30T12:00", ["2027-10-31T00:30", "2027-11-01T01:30"]),
    ],
)
async def test_a_preview_says_what_the_schedule_does_when_clocks_change(
    people: People, clock: ManualClock, now: str, expected: list[str]
) -> None:
    clock.advance(datetime.fromisoformat(f"{now}Z").timestamp() - clock.time())
    admin = await people.signed_in(Role.tenant_admin)
    body = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    previewed = (await admin.post(PREVIEW, body)).json()["data"]["next_times"]
    assert [one[:16] for one in previewed[:2]] == expected
    stored = await _schedule(admin, await make_workflow(admin, node("a")), **body)
    assert stored["next_run_at"] == previewed[0]
