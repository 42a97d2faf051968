"""Tests of answers that are kept under the stamp: current for everybody, in every process, and bounded."""

import pytest

from retinue.app import Service
from retinue.auth.models import Session
from retinue.kit.clock import ManualClock
from retinue.kit.config_cache import ConfigCache
from retinue.kit.http import answer_cache
from tests.client import Api, Response
from tests.factories.agents import change_agent, make_agent
from tests.factories.people import People

pytestmark = pytest.mark.one_service
LIST = "/api/v1/agents"


@pytest.fixture
def handled(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that a handler answered from now on."""
    app, paths = service.app, []
    handle = app._handle

    async def noted(request, route, segments):
        paths.append(request.path)
        return await handle(request, route, segments)

    monkeypatch.setattr(app, "_handle", noted)
    return paths


@pytest.fixture
def reads() -> None:
    """Tests with a fixture of this name see only what the product itself does (tests/cached_answers.py)."""


async def read_twice(api: Api, path: str) -> Response:
    first, second = await api.get(path), await api.get(path)
    assert (first.status, second.status, first.body) == (200, 200, second.body)
    assert first.headers["etag"] == second.headers["etag"]
    return second


async def test_an_unchanged_list_is_made_once(admin: Api, handled: list[str], reads: None) -> None:
    await make_agent(admin, name="One")
    handled.clear()
    await read_twice(admin, LIST)
    assert handled == [LIST]
    await read_twice(admin, f"{LIST}?per_page=1")
    assert handled == [LIST, LIST]


async def test_each_request_has_ids_and_limits_of_its_own(admin: Api, reads: None) -> None:
    first, second = await admin.get(LIST), await admin.get(LIST)
    for name in ("x-request-id", "x-correlation-id", "x-ratelimit-remaining"):
        assert first.headers[name] != second.headers[name]
    assert first.raw_headers[-1] == second.raw_headers[-1]


async def test_a_client_that_has_it_is_told_that_nothing_changed(admin: Api, reads: None) -> None:
    tag = (await read_twice(admin, LIST)).headers["etag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        unchanged = await admin.get(LIST, headers={"If-None-Match": known})
        assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
        assert "content-length" not in unchanged.headers
    assert (await admin.get(LIST, headers={"If-None-Match": '"other"'})).status == 200
    await make_agent(admin, name="New")
    assert (await admin.get(LIST, headers={"If-None-Match": tag})).status == 200


async def test_the_tag_of_a_record_is_for_changes_and_not_for_304(admin: Api, reads: None) -> None:
    path = f"{LIST}/{(await make_agent(admin))['id']}"
    tag = (await read_twice(admin, path)).headers["etag"]
    assert (await admin.get(path, headers={"If-None-Match": tag})).status == 200
    changed = await admin.put(path, {"name": "Changed"}, headers={"If-Match": tag})
    assert changed.status == 200, changed


async def test_what_one_process_changes_another_answers_at_once(
    admin: Api, people: People, other_process: Service, reads: None
) -> None:
    there = Api(other_process, token=admin.token)
    agent = await make_agent(admin, name="Before")
    path = f"{LIST}/{agent['id']}"
    for name in ("Now", "Then"):
        for api in (admin, there):
            await read_twice(api, LIST)
            await read_twice(api, path)
        await change_agent(admin, agent, name=name)
        for api in (admin, there):
            assert (await api.get(path)).json()["name"] == name
            assert name in [listed["name"] for listed in (await api.get(LIST)).json()["data"]]
    assert (await admin.delete(path)).status == 204
    for api in (admin, there):
        assert (await api.get(path)).status == 404
        assert agent["id"] not in (await api.get(LIST)).body.decode()


async def test_a_cached_answer_asks_for_the_permission_each_time(
    admin: Api, people: People, other_process: Service, reads: None
) -> None:
    boss = await people.signed_in("tenant_admin")
    there = Api(other_process, token=boss.token)
    for api in (boss, there):
        await read_twice(api, "/permissions")
    changed = await admin.put(f"/users/{boss.user.id}/role", {"role": "agent_developer"})
    assert changed.status == 200, changed
    for api in (boss, there):
        assert (await api.get("/permissions")).status == 403


async def test_a_cached_answer_asks_for_the_session_each_time(
    people: People, other_process: Service, reads: None
) -> None:
    boss = await people.signed_in("tenant_admin")
    there = Api(other_process, token=boss.token)
    for api in (boss, there):
        await read_twice(api, LIST)
    assert (await boss.post("/auth/logout")).status == 200
    for api in (boss, there):
        assert (await api.get(LIST)).status == 401


async def test_a_session_ends_by_the_clock_although_it_is_cached(
    people: People, clock: ManualClock, service: Service
) -> None:
    boss = await people.signed_in("tenant_admin")
    await read_twice(boss, LIST)
    async with people.context(boss.user.tenant_id) as ctx:
        (session,) = await ctx.db.all(Session, user_id=boss.user.id)
        await ctx.db.update(session, expires_at=clock.ahead(1))
    # As a process sees it that meets the caller only now.
    service.instance.principals = ConfigCache()
    assert (await boss.get(LIST)).status == 200
    clock.advance(1.5)
    assert (await boss.get(LIST)).status == 401


async def test_tenants_do_not_share_answers(admin: Api, people: People, reads: None) -> None:
    agent = await make_agent(admin, name="Mine")
    path = f"{LIST}/{agent['id']}"
    await read_twice(admin, path)
    stranger = await people.signed_in("tenant_admin", await people.tenant("Elsewhere"))
    assert (await stranger.get(path)).status == 404
    assert (await stranger.get(LIST)).json()["data"] == []
    acting = await admin.get(LIST, headers={"X-Tenant-ID": stranger.user.tenant_id})
    assert (acting.status, acting.json()["data"]) == (200, [])


async def test_figures_and_knowledge_are_never_cached(admin: Api, handled: list[str], reads: None) -> None:
    await make_agent(admin)
    path = f"{LIST}?include=stats"
    handled.clear()
    for _ in range(2):
        assert (await admin.get(path)).status == 200
    assert handled == [LIST, LIST]


async def test_an_answer_with_a_warning_is_made_for_each_caller(admin: Api, reads: None) -> None:
    path = f"{LIST}?limit=1"
    assert "x-retinue-warnings" in (await admin.get(path)).headers
    strict = await admin.get(path, headers={"Prefer": "handling=strict"})
    assert strict.status == 422


async def test_the_cache_has_a_limit_in_bytes(
    admin: Api, service: Service, handled: list[str], monkeypatch: pytest.MonkeyPatch, reads: None
) -> None:
    await make_agent(admin, name="One")
    monkeypatch.setattr(answer_cache, "MAX_CACHED_BYTES", 8_000)
    for size in range(1, 30):
        assert (await admin.get(f"{LIST}?per_page={size}")).status == 200
    cache = service.app._answers
    assert 0 < cache._size_bytes <= 8_000
    assert cache._size_bytes == sum(len(answer.body) + 1_000 for answer in cache._answers.values())
    handled.clear()
    await admin.get(f"{LIST}?per_page=1")
    await admin.get(f"{LIST}?per_page=29")
    assert handled == [LIST]
