"""Asking for a permission, and who can give it."""

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.users.access_requests import MAX_REQUESTS_PER_HOUR, OPEN_SECONDS
from tests.client import Api
from tests.factories.happenings import events
from tests.factories.notifications import notifications_of
from tests.factories.people import People

PATH = "/api/v1/access-requests"


async def test_everyone_reads_the_names_of_administrators_and_nothing_else(
    people: People, admin: Api
) -> None:
    await people.user(Role.tenant_admin, first_name="Ines", last_name="Novak", email="ines@example.com")
    await people.user(Role.tenant_admin, first_name="", last_name="", email="ops@example.com")
    await people.user(Role.tenant_admin, first_name="Gone", status="inactive")
    viewer = await people.signed_in(Role.viewer)
    answer = await viewer.get("/users/administrators")
    assert answer.status == 200, answer
    named = {one["name"]: one["role"] for one in answer.json()["data"]}
    assert named["Ines Novak"] == "tenant_admin"
    assert "ops" in named
    assert "Gone Lovelace" not in named
    assert b"example.com" not in answer.body
    elsewhere = await people.signed_in(Role.viewer, await people.tenant("Other"))
    assert (await elsewhere.get("/users/administrators")).json()["data"] == []


async def test_a_request_reaches_the_administrators_once(
    service: Service, people: People, admin: Api, clock: ManualClock
) -> None:
    boss = await people.signed_in(Role.tenant_admin)
    viewer = await people.signed_in(Role.viewer)
    wanted = {"permission": "workflows:execute", "note": "Nightly report"}
    asked = await viewer.post(PATH, wanted)
    assert asked.status == 201, asked
    assert asked.json()["permission"] == "workflows:execute"
    again = await viewer.post(PATH, wanted)
    assert (again.status, again.code) == (409, "access_already_requested")
    await service.runner.drain()
    (told,) = [one for one in (await notifications_of(boss))["data"] if one["type"] == "access_requested"]
    assert told["title"] == f"{viewer.user.email} asks for workflows:execute"
    assert "Nightly report" in told["message"]
    assert told["action_url"] == f"/console/settings/people?person={viewer.user.id}"
    assert (await notifications_of(viewer))["data"] == []
    clock.advance(OPEN_SECONDS + 1)
    viewer = await people.sign_in(viewer.user)
    assert (await viewer.post(PATH, wanted)).status == 201
    assert len(await events(people, "system.user.access_requested")) == 2


async def test_what_makes_no_sense_is_refused(people: People, admin: Api) -> None:
    viewer = await people.signed_in(Role.viewer)
    held = await viewer.post(PATH, {"permission": "agents:read"})
    assert (held.status, held.code) == (409, "permission_already_held")
    assert (await viewer.post(PATH, {"permission": "spoons:bend"})).status == 422
    assert (await viewer.post(PATH, {"permission": "tools:write", "note": "x" * 501})).status == 422


async def test_nobody_floods_the_administrators(people: People) -> None:
    from retinue.access.catalogue import PERMISSION_KEYS

    viewer = await people.signed_in(Role.viewer)
    keys = [key for key in PERMISSION_KEYS if key.endswith((":write", ":delete", ":execute", ":reveal"))]
    answers = [(await viewer.post(PATH, {"permission": key})).status for key in keys]
    assert answers[:MAX_REQUESTS_PER_HOUR] == [201] * MAX_REQUESTS_PER_HOUR
    assert answers[MAX_REQUESTS_PER_HOUR] == 429
