"""Incoming webhooks as records: made, listed, changed, deleted, and forgotten after their time."""

import asyncio

from retinue.access.models import Role
from retinue.incoming.jobs import purge_payloads
from retinue.incoming.models import HeldSlug, LargePayload, ReceivedPayload
from tests.factories.happenings import only_event
from tests.factories.incoming import PATH, address, list_received, make_hook

DAY_S = 86_400


async def rows_of(people, record):
    async with people.context() as ctx:
        return await ctx.system("test").all(record)


async def test_a_webhook_is_made_and_read(admin) -> None:
    hook = await make_hook(admin, name="Shop")
    assert hook == {
        "id": hook["id"],
        "name": "Shop",
        "slug": hook["slug"],
        "url": f"http://127.0.0.1:8080/webhooks/in/{hook['slug']}",
        "description": None,
        "workflow_id": None,
        "active": True,
        "verification": {"type": "none", "header": None, "has_secret": False},
        "dedupe_header": None,
        "event_count": 0,
        "last_received_at": None,
        "created_at": hook["created_at"],
        "updated_at": hook["updated_at"],
    }
    assert hook["id"].startswith("iwh_")
    assert len(hook["slug"]) == 16
    assert (await admin.get(f"{PATH}/{hook['id']}")).json() == hook


async def test_a_webhook_is_changed_and_cleared(admin, api, people) -> None:
    where = f"{PATH}/{(await make_hook(admin))['id']}"
    changes = {
        "name": "Orders",
        "slug": "orders",
        "description": "From the shop",
        "workflow_id": "wf_1",
        "active": False,
        "dedupe_header": "X-Id",
        "verification": {"type": "token", "secret": "s"},
    }
    changed = (await admin.put(where, changes)).json()
    assert {name: changed[name] for name in changes if name != "verification"} == {
        name: value for name, value in changes.items() if name != "verification"
    }
    assert changed["verification"] == {"type": "token", "header": "X-Webhook-Token", "has_secret": True}
    assert (await only_event(people, "system.incoming_webhook.updated"))["changes"] == sorted(changes)
    # What is read can be written back, and says the same then.
    written = (await admin.put(where, changed)).json()
    assert {**written, "updated_at": ""} == {**changed, "updated_at": ""}
    cleared = {"description": None, "workflow_id": None, "dedupe_header": None, "verification": None}
    assert (await admin.put(where, {**cleared, "active": True})).json()["workflow_id"] is None
    assert (await api.post("/webhooks/in/orders", 1)).status == 200


async def test_a_deleted_webhook_takes_no_payloads_and_keeps_none(service, admin, api, people) -> None:
    hook, other = await make_hook(admin, slug="orders"), await make_hook(admin)
    for payload in (1, "x" * 100_000):
        assert (await api.post(address(hook), payload)).status == 200
    await api.post(address(other), 2)
    where = f"{PATH}/{hook['id']}"
    assert (await admin.delete(where)).status == 204
    assert (await admin.get(where)).code == "webhook_not_found"
    assert (await api.post(address(hook), 1)).status == 404
    await service.runner.drain()
    assert len(await rows_of(people, ReceivedPayload)) == 1
    assert await rows_of(people, LargePayload) == []
    assert (await only_event(people, "system.incoming_webhook.deleted"))["slug"] == "orders"


async def test_a_slug_is_one_of_a_kind_in_the_whole_instance(admin, people) -> None:
    stranger = await people.signed_in(Role.agent_developer, await people.tenant())
    answers = await asyncio.gather(
        *(person.post(PATH, {"name": "A", "slug": "taken"}) for person in (admin, stranger) * 5)
    )
    assert sorted(answer.status for answer in answers) == [201] + [409] * 9
    assert {answer.code for answer in answers if answer.status == 409} == {"slug_taken"}
    own = await make_hook(stranger)
    answer = await stranger.put(f"{PATH}/{own['id']}", {"slug": "taken"})
    assert (answer.status, answer.code) == (409, "slug_taken")
    assert (await stranger.put(f"{PATH}/{own['id']}", {"slug": own["slug"]})).status == 200


async def is_free_for_another(people, slug: str) -> bool:
    """Try to take the slug in a tenant of its own, for a new webhook and for one that is there."""
    stranger = await people.signed_in("tenant_admin", await people.tenant())
    answer = await stranger.post(PATH, {"name": "Mine now", "slug": slug})
    own = await make_hook(stranger)
    changed = await stranger.put(f"{PATH}/{own['id']}", {"slug": slug})
    assert changed.status == 409
    assert answer.status == 201 or answer.code == "slug_taken", answer
    return answer.status == 201


async def test_a_slug_that_was_given_up_is_held_for_its_tenant(admin, people) -> None:
    hook = await make_hook(admin, slug="first")
    assert (await admin.put(f"{PATH}/{hook['id']}", {"slug": "second"})).status == 200
    assert not await is_free_for_another(people, "first"), "its webhook has another address now"
    assert (await admin.put(f"{PATH}/{hook['id']}", {"slug": "first"})).status == 200
    assert (await admin.delete(f"{PATH}/{hook['id']}")).status == 204
    assert not await is_free_for_another(people, "first"), "its webhook is gone"
    await make_hook(admin, slug="first")


async def test_a_slug_that_was_given_up_is_free_for_everyone_after_ninety_days(
    service, admin, people
) -> None:
    hook = await make_hook(admin, slug="first")
    assert (await admin.delete(f"{PATH}/{hook['id']}")).status == 204
    service.instance.clock.advance(89 * DAY_S)
    await service.runner.drain()
    assert not await is_free_for_another(people, "first")
    service.instance.clock.advance(2 * DAY_S)
    assert await is_free_for_another(people, "first"), "nobody sends there any more"
    await service.runner.drain()
    assert await rows_of(people, HeldSlug) == []


async def test_bad_fields_are_named(admin) -> None:
    cases = [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        *(
            ({"name": "A", "slug": slug}, "slug")
            for slug in ("ab", "Abc", "-abc", "a b c", "x" * 64, "abc\n", "é-é")
        ),
        ({"name": "A", "workflow_id": "x" * 65}, "workflow_id"),
        ({"name": "A", "active": "yes"}, "active"),
        ({"name": "A", "dedupe_header": "X Id"}, "dedupe_header"),
        ({"name": "A", "dedupe_header": "X:\r\nY"}, "dedupe_header"),
        ({"name": "A", "verification": {"type": "md5"}}, "verification.type"),
        ({"name": "A", "verification": {}}, "verification.type"),
        ({"name": "A", "verification": {"type": "github"}}, "verification.secret"),
        ({"name": "A", "verification": {"type": "token", "secret": ""}}, "verification.secret"),
        (
            {"name": "A", "verification": {"type": "token", "secret": "s", "header": "é"}},
            "verification.header",
        ),
    ]
    for body, field in cases:
        answer = await admin.post(PATH, body)
        assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field]), body
    assert (await admin.get(PATH)).json()["total"] == 0


async def test_lists_have_both_forms_of_their_numbers(admin, api) -> None:
    hooks = [await make_hook(admin, name=f"Hook {n}", active=n != 1, workflow_id=f"wf_{n}") for n in range(3)]
    page = (await admin.get(PATH, query={"per_page": 2})).json()
    assert page["pagination"] == {"page": 1, "per_page": 2, "total": 3, "total_pages": 2}
    assert (page["total"], page["page"], page["per_page"], len(page["data"])) == (3, 1, 2, 2)
    assert [hook["name"] for hook in page["data"]] == ["Hook 2", "Hook 1"]
    for query, names in (
        ({"active": "false"}, ["Hook 1"]),
        ({"workflow_id": "wf_2"}, ["Hook 2"]),
        ({"search": "hook 0"}, ["Hook 0"]),
        ({"sort": "name"}, ["Hook 0", "Hook 1", "Hook 2"]),
    ):
        found = (await admin.get(PATH, query=query)).json()["data"]
        assert [hook["name"] for hook in found] == names
    assert (await admin.get(PATH, query={"sort": "secret"})).status == 422
    for number in range(3):
        await api.post(address(hooks[0]), number)
    log = (await admin.get(f"{PATH}/{hooks[0]['id']}/events", query={"per_page": 2, "page": 2})).json()
    assert ([entry["payload"] for entry in log["data"]], log["total"]) == ([0], 3)
    assert (await admin.get(f"{PATH}/{hooks[0]['id']}/events", query={"status": "odd"})).status == 422


async def test_roles_may_what_the_catalogue_says(people, admin) -> None:
    tenant = await people.tenant()
    developer, viewer, user = [
        await people.signed_in(role, tenant) for role in (Role.agent_developer, Role.viewer, Role.agent_user)
    ]
    hook = await make_hook(developer)
    assert (await viewer.get(f"{PATH}/{hook['id']}")).status == 200
    assert (await viewer.put(f"{PATH}/{hook['id']}", {"name": "B"})).status == 403
    assert (await user.get(PATH)).status == 403
    assert (await admin.get(f"{PATH}/{hook['id']}")).status == 404


async def test_what_was_received_is_kept_for_a_month(service, admin, api, people, clock) -> None:
    hook = await make_hook(admin)
    for number in range(5):
        assert (await api.post(address(hook), number)).status == 200
    await api.post(address(hook), "x" * 100_000)
    clock.advance(29 * DAY_S)
    await api.post(address(hook), "young")
    await purge_payloads(people.context())
    assert len(await rows_of(people, ReceivedPayload)) == 7
    clock.advance(2 * DAY_S)
    await service.runner.drain()
    await purge_payloads(people.context())
    assert [row.payload for row in await rows_of(people, ReceivedPayload)] == ['"young"']
    assert await rows_of(people, LargePayload) == []
    fresh = await people.super_admin()
    assert [entry["payload"] for entry in await list_received(fresh, hook)] == ["young"]
    assert (await fresh.get(f"{PATH}/{hook['id']}")).json()["event_count"] == 7
