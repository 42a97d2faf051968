"""A client that comes back to another process: its reply is made to the end, and it hears all of it."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.jobs import JOBS
from retinue.chat.models import Message, StreamFollower
from retinue.chat.replies import followers, live, stream_control
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer
from tests.chat.listening import Listener, turns_of, wait_until_quiet
from tests.chat.provider_faults import slowly
from tests.chat.speaking import path_of, text_of
from tests.client import Api
from tests.factories.people import People

GRACE_S = 0.4


@pytest.fixture
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", GRACE_S)
    monkeypatch.setattr(stream_control, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(followers, "RENEWAL_SECONDS", 0.02)


async def leases_on(people: People, admin: Api, message_id: str) -> list[StreamFollower]:
    async with people.context(admin.user.tenant_id) as ctx:
        return await ctx.detached().db.all(StreamFollower, message_id=message_id)


async def wait_for_follower(people: People, admin: Api, message_id: str, after: str = "") -> StreamFollower:
    """Return the lease once another process follows the reply, and its lease ends after this time."""
    async with asyncio.timeout(10):
        while True:
            for lease in await leases_on(people, admin, message_id):
                if lease.expires_at > after:
                    return lease
            await asyncio.sleep(0.02)


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_not_given_up_while_somebody_waits_for_it_in_another_process(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
) -> None:
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    more = asyncio.Event()
    provider.fails(slowly(more))
    here = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await here.until("content_delta")
    message_id = here.events[0].data["message_id"]
    there = Listener(
        Api(elsewhere, token=admin.token, ip=admin.ip),
        path_of(agent, f"/stream/{message_id}"),
        method="GET",
        headers={"Last-Event-ID": "2"},
    )
    await wait_for_follower(people, admin, message_id)
    await here.leave()
    await asyncio.sleep(3 * GRACE_S)
    assert sum(map(len, turns_of(service))) == 1
    more.set()
    await there.end()
    assert text_of(there.events) == "rains."
    assert [one.id for one in there.events] == [3, 4]
    assert there.events[-1].data["finish_reason"] == "stop"
    assert await leases_on(people, admin, message_id) == []
    await elsewhere.stop()


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_given_up_once_nobody_waits_for_it_anywhere(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
) -> None:
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    provider.fails(slowly(asyncio.Event()))
    here = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await here.until("content_delta")
    message_id = here.events[0].data["message_id"]
    there = Listener(
        Api(elsewhere, token=admin.token, ip=admin.ip),
        path_of(agent, f"/stream/{message_id}"),
        method="GET",
    )
    await wait_for_follower(people, admin, message_id)
    await here.leave()
    await there.leave()
    assert await leases_on(people, admin, message_id) == []
    await wait_until_quiet(service)
    await elsewhere.stop()


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_lease_is_renewed_and_leaves_the_question_alone(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
) -> None:
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    more = asyncio.Event()
    provider.fails(slowly(more))
    here = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await here.until("content_delta")
    message_id = here.events[0].data["message_id"]
    assert await leases_on(people, admin, message_id) == []
    other = Api(elsewhere, token=admin.token, ip=admin.ip)
    path = path_of(agent, f"/stream/{message_id}")
    there = Listener(other, path, method="GET")
    first = await wait_for_follower(people, admin, message_id)
    clock.advance(1)
    renewed = await wait_for_follower(people, admin, message_id, after=first.expires_at)
    assert (renewed.id, renewed.created_at) == (first.id, first.created_at)
    async with people.context(admin.user.tenant_id) as ctx:
        question = await ctx.detached().db.find(Message, reply_id=message_id)
    assert question is not None
    assert question.updated_at == question.created_at
    also_there = Listener(other, path, method="GET")
    async with asyncio.timeout(10):
        while len(await leases_on(people, admin, message_id)) < 2:
            await asyncio.sleep(0.02)
    await there.leave()
    assert len(await leases_on(people, admin, message_id)) == 1
    more.set()
    await asyncio.gather(here.end(), also_there.end())
    await elsewhere.stop()


@pytest.mark.usefixtures("_in_a_hurry")
async def test_the_lease_of_a_process_that_was_killed_expires_and_is_purged(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
) -> None:
    provider.fails(slowly(asyncio.Event()))
    here = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await here.until("content_delta")
    message_id = here.events[0].data["message_id"]
    async with people.context(admin.user.tenant_id) as ctx:
        expires_at = clock.ahead(followers.LEASE_SECONDS)
        await ctx.db.insert(StreamFollower(message_id=message_id, expires_at=expires_at))
    await here.leave()
    await asyncio.sleep(3 * GRACE_S)
    assert sum(map(len, turns_of(service))) == 1
    await purge(people)
    assert len(await leases_on(people, admin, message_id)) == 1
    clock.advance(followers.LEASE_SECONDS)
    await wait_until_quiet(service)
    await purge(people)
    assert await leases_on(people, admin, message_id) == []


async def purge(people: People) -> None:
    (job,) = [one for one in JOBS if one.kind.name == "chat.purge_stream_followers"]
    async with people.context() as ctx:
        await job.run(ctx, None)


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_reply_of_a_server_that_was_killed_is_not_waited_for(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, clock: ManualClock
) -> None:
    """One process serves SQLite, so the next one knows; others may still write the reply on PostgreSQL."""
    if service.instance.database.dialect != "sqlite":
        pytest.skip("another process may write it")
    more = asyncio.Event()
    provider.fails(slowly(more))
    here = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await here.until("content_delta")
    clock.advance(1)
    restarted = Service(service.settings, clock)
    await restarted.start()
    message_id = here.events[0].data["message_id"]
    async with asyncio.timeout(5):
        answer = await Api(restarted, token=admin.token, ip=admin.ip).get(
            path_of(agent, f"/stream/{message_id}")
        )
    assert (answer.status, answer.code) == (410, "stream_expired")
    await restarted.stop()
    more.set()
    await here.end()
