"""One request, at most one transaction: opened late, ended before the answer, and all or nothing."""

import asyncio

import pytest
from structlog.testing import capture_logs

from retinue.access.models import Role
from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.files.models import File
from retinue.kit import failpoints
from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from tests.client import Api
from tests.databases import SERVER
from tests.factories.happenings import audits, events
from tests.kit.idempotency import notes
from tests.kit.planted import PATIENCE_S, Exchange
from tests.services import in_each

NOTES = "/planted/notes"
FAILING = "/planted/failing"


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest))


@pytest.fixture
def announcements(service) -> list[str]:
    """Every time work was announced to the workers."""
    times: list[str] = []
    in_each(service, lambda one: setattr(one.instance, "work_arrived", lambda: times.append("now")))
    return times


@pytest.fixture
def transactions(service, monkeypatch) -> list[str]:
    """Every transaction that was opened."""
    times: list[str] = []

    def count(one: Service) -> None:
        begin = one.instance.database.begin

        async def counted():
            times.append("now")
            return await begin()

        monkeypatch.setattr(one.instance.database, "begin", counted)

    in_each(service, count)
    return times


@pytest.fixture(autouse=True)
def disarmed():
    yield
    failpoints.arm("")


def open_exchange(service, me: Api, path: str = NOTES) -> Exchange:
    return Exchange(service, "POST", path, [("Authorization", f"Bearer {me.token}")])


async def works_as_before(me: Api) -> None:
    """Check that nothing is left locked."""
    async with asyncio.timeout(PATIENCE_S):
        assert (await me.post(NOTES, {"name": "after"})).status == 201


async def test_a_slow_body_keeps_nobody_from_writing(service, me, people, transactions):
    exchange = open_exchange(service, me)
    exchange.send(b'{"name":')
    await exchange.is_reading()
    assert transactions == []
    await works_as_before(me)
    assert await notes(people) == 1
    exchange.send(b'"slow"}', more=False)
    assert (await exchange.answer()).status == 201
    assert await notes(people) == 2


async def test_a_client_that_leaves_before_its_body_is_here_has_asked_nothing(service, me, people, planted):
    exchange = open_exchange(service, me)
    exchange.send(b'{"name":')
    exchange.leave()
    assert await exchange.answer() is None
    assert (planted.runs, await notes(people)) == (0, 0)


async def test_the_first_byte_leaves_after_the_commit(service, me):
    found = []

    async def look_from_outside():
        unit = UnitOfWork(service.instance.database, reads_outside_transaction=True)
        system = SystemDb(unit, service.instance.clock, service.instance.ring)
        found.append(await system.count(File, purpose="planted"))

    exchange = open_exchange(service, me)
    exchange.on_start = look_from_outside
    exchange.send(b'{"name":"a"}', more=False)
    assert (await exchange.answer()).status == 201
    assert found == [1]


async def test_a_failure_before_the_commit_leaves_nothing(me, people, announcements):
    failpoints.arm("before_commit:1:error")
    answer = await me.post(f"{FAILING}/announced")
    assert (answer.status, answer.code) == (500, "internal_error")
    assert (await notes(people), announcements) == (0, [])
    await works_as_before(me)


async def test_a_commit_the_database_refuses_leaves_nothing_and_announces_nothing(
    me, people, announcements, planted
):
    """SQLite finds the dangling reference at the commit; PostgreSQL had refused the statement before."""
    answer = await me.post(f"{FAILING}/commit")
    assert (answer.status, answer.code) == ((500, "internal_error") if SERVER else (409, "conflict"))
    assert (await notes(people), announcements, planted.done_after_commit) == (0, [], [])
    await works_as_before(me)


async def test_a_commit_that_works_stores_announces_and_goes_on(me, people, announcements, planted):
    assert (await me.post(f"{FAILING}/announced")).status == 200
    assert (await notes(people), announcements, planted.done_after_commit) == (1, ["now"], ["done"])
    told = [event.data["user_id"] for event in await events(people, "system.user.created")]
    audited = [entry.metadata["user_id"] for entry in await audits(people, "system.user.created")]
    assert (told.count("usr_x"), audited.count("usr_x")) == (1, 1)


async def test_what_follows_a_commit_may_fail_without_undoing_the_answer(me, people, planted):
    with capture_logs() as logs:
        answer = await me.post(f"{FAILING}/after")
    assert (answer.status, await notes(people)) == (200, 1)
    assert planted.done_after_commit == ["done"], "the next one is still done"
    assert [log["event"] for log in logs] == ["after_commit_failed"]


@pytest.mark.parametrize(
    ("kind", "status"), [("encoding", 500), ("conflict", 409), ("unavailable", 503), ("oops", 500)]
)
async def test_whatever_goes_wrong_nothing_is_kept(me, people, announcements, kind, status):
    answer = await me.post(f"{FAILING}/{kind}")
    assert answer.status == status
    assert set(answer.json()) == {"error"}
    assert (await notes(people), announcements) == (0, [])
    await works_as_before(me)


async def test_a_unit_inside_an_open_transaction_is_a_mistake(me, people):
    with capture_logs() as logs:
        answer = await asyncio.wait_for(me.post(f"{FAILING}/unit"), PATIENCE_S)
    assert (answer.status, await notes(people)) == (500, 0)
    assert [log["event"] for log in logs] == ["request_failed"]
    await works_as_before(me)


async def test_reading_opens_no_transaction_and_writing_opens_one(me, transactions, people):
    assert (await me.get(NOTES)).json() == {"count": 0}
    assert (await me.get("/auth/me")).status == 200
    assert transactions == []
    assert (await me.get(f"{NOTES}/seen")).status == 200
    assert len(transactions) == 1
    assert (await me.post(NOTES, {"name": "a"})).status == 201
    assert len(transactions) == 2
    assert (await me.get(NOTES)).json() == {"count": 2}


async def test_a_refused_request_opens_no_transaction(me, api, people, transactions):
    viewer = await people.signed_in(Role.viewer)
    transactions.clear()
    for caller, status in ((api, 401), (viewer, 403)):
        assert (await caller.post(NOTES, {"name": "a"})).status == status
    for content, status in ((b"{", 400), (b"{}", 422), (b" " * (1 << 20) + b"{}", 413)):
        assert (await me.request("POST", NOTES, content=content)).status == status
    assert (await me.post("/planted/write")).status == 200, "a handler that touches nothing"
    assert transactions == []


@pytest.mark.skipif(bool(SERVER), reason="PostgreSQL has no single writer")
async def test_reading_does_not_wait_for_the_writer(service, me):
    held = await service.instance.database.begin()
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert (await me.get(NOTES)).status == 200
    finally:
        await service.instance.database.rollback(held)


async def test_errors_come_in_one_order(me, api, people):
    """Identity, permission, existence, content: no error tells about a later one."""
    viewer = await people.signed_in(Role.viewer)
    stranger = await people.signed_in(Role.agent_developer, await people.tenant("Other"))
    note = (await me.post(NOTES, {"name": "a"})).json()["id"]
    absent, present = f"{NOTES}/file_{'a' * 26}", f"{NOTES}/{note}"
    bad, good = {"name": ""}, {"name": "b"}
    for caller, path, body, status in (
        (api, absent, bad, 401),
        (viewer, absent, bad, 403),
        (me, absent, bad, 404),
        (stranger, present, bad, 404),
        (me, present, bad, 422),
        (me, present, good, 200),
    ):
        answer = await caller.post(path, body)
        assert answer.status == status, (path, body)
    for caller, path, status in (
        (api, absent, 401),
        (viewer, absent, 403),
        (me, absent, 404),
        (me, present, 400),
    ):
        assert (await caller.request("POST", path, content=b"{nonsense")).status == status


async def test_a_cancelled_request_leaves_nothing(me, people, planted):
    asking = asyncio.create_task(me.post("/planted/slow", {"name": "a"}))
    await planted.gate.somebody_waits()
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    await works_as_before(me)
    assert await notes(people) == 1
