"""A client that comes back to another process: its reply is made to the end, and it hears all of it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.jobs import JOBS
from retinue.chat.models import Message, StreamFollower
from retinue.chat.replies import followers, live, stream_control
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer
from tests.chat.listening import Listener, begin_reply, turns_of, wait_until_quiet
from tests.chat.provider_faults import slowly
from tests.chat.speaking import path_of, text_of
from tests.client import Api
from tests.factories.people import People

Json = dict[str, Any]
GRACE_S = 0.4


@pytest.fixture
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", GRACE_S)
    monkeypatch.setattr(stream_control, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(followers, "RENEWAL_SECONDS", 0.02)


class Leases:
    """The leases of those who follow a reply in another process."""

    def __init__(self, people: People, tenant_id: str) -> None:
        self.people = people
        self.tenant_id = tenant_id

    async def of(self, message_id: str) -> list[StreamFollower]:
        async with self.people.context(self.tenant_id) as ctx:
            return await ctx.detached().db.all(StreamFollower, message_id=message_id)

    async def wait_for_one(self, message_id: str, after: str = "") -> StreamFollower:
        """Return the lease once another process follows the reply, and its lease ends after this time."""
        async with asyncio.timeout(10):
            while True:
                for lease in await self.of(message_id):
                    if lease.expires_at > after:
                        return lease
                await asyncio.sleep(0.02)

    async def purge(self) -> None:
        (job,) = [one for one in JOBS if one.kind.name == "chat.purge_stream_followers"]
        async with self.people.context() as ctx:
            await job.run(ctx, None)


@pytest.fixture
def leases(people: People, admin: Api) -> Leases:
    return Leases(people, admin.user.tenant_id)


@pytest.fixture
async def elsewhere(service: Service, admin: Api, clock: ManualClock) -> AsyncIterator[Api]:
    """The same person at another process."""
    other = Service(service.settings, clock)
    await other.start()
    yield Api(other, token=admin.token, ip=admin.ip)
    await other.stop()


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_not_given_up_while_somebody_waits_for_it_in_another_process(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, leases: Leases, elsewhere: Api
) -> None:
    more = asyncio.Event()
    provider.fails(slowly(more))
    here, message_id = await begin_reply(admin, agent)
    there = Listener(
        elsewhere,
        path_of(agent, f"/stream/{message_id}"),
        method="GET",
        headers={"Last-Event-ID": "2"},
    )
    await leases.wait_for_one(message_id)
    await here.leave()
    await asyncio.sleep(3 * GRACE_S)
    assert sum(map(len, turns_of(service))) == 1
    more.set()
    await there.end()
    assert text_of(there.events) == "rains."
    assert [one.id for one in there.events] == [3, 4]
    assert there.events[-1].data["finish_reason"] == "stop"
    assert await leases.of(message_id) == []


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_given_up_once_nobody_waits_for_it_anywhere(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, leases: Leases, elsewhere: Api
) -> None:
    provider.fails(slowly(asyncio.Event()))
    here, message_id = await begin_reply(admin, agent)
    there = Listener(
        elsewhere,
        path_of(agent, f"/stream/{message_id}"),
        method="GET",
    )
    await leases.wait_for_one(message_id)
    await here.leave()
    await there.leave()
    assert await leases.of(message_id) == []
    await wait_until_quiet(service)


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_lease_is_renewed_and_leaves_the_question_alone(
    admin: Api, agent: Json, provider: ProviderServer, leases: Leases, elsewhere: Api, clock: ManualClock
) -> None:
    more = asyncio.Event()
    provider.fails(slowly(more))
    here, message_id = await begin_reply(admin, agent)
    assert await leases.of(message_id) == []
    path = path_of(agent, f"/stream/{message_id}")
    there = Listener(elsewhere, path, method="GET")
    first = await leases.wait_for_one(message_id)
    clock.advance(1)
    renewed = await leases.wait_for_one(message_id, after=first.expires_at)
    assert (renewed.id, renewed.created_at) == (first.id, first.created_at)
    async with leases.people.context(leases.tenant_id) as ctx:
        question = await ctx.detached().db.find(Message, reply_id=message_id)
    assert question is not None
    assert question.updated_at == question.created_at
    also_there = Listener(elsewhere, path, method="GET")
    async with asyncio.timeout(10):
        while len(await leases.of(message_id)) < 2:
            await asyncio.sleep(0.02)
    await there.leave()
    assert len(await leases.of(message_id)) == 1
    more.set()
    await asyncio.gather(here.end(), also_there.end())


@pytest.mark.usefixtures("_in_a_hurry")
async def test_the_lease_of_a_process_that_was_killed_expires_and_is_purged(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, leases: Leases, clock: ManualClock
) -> None:
    provider.fails(slowly(asyncio.Event()))
    here, message_id = await begin_reply(admin, agent)
    async with leases.people.context(leases.tenant_id) as ctx:
        expires_at = clock.ahead(followers.LEASE_SECONDS)
        await ctx.db.insert(StreamFollower(message_id=message_id, expires_at=expires_at))
    await here.leave()
    await asyncio.sleep(3 * GRACE_S)
    assert sum(map(len, turns_of(service))) == 1
    await leases.purge()
    assert len(await leases.of(message_id)) == 1
    clock.advance(followers.LEASE_SECONDS)
    await wait_until_quiet(service)
    await leases.purge()
    assert await leases.of(message_id) == []


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_reply_of_a_server_that_was_killed_is_not_waited_for(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, clock: ManualClock
) -> None:
    """One process serves SQLite, so the next one knows; others may still write the reply on PostgreSQL."""
    if service.instance.database.dialect != "sqlite":
        pytest.skip("another process may write it")
    more = asyncio.Event()
    provider.fails(slowly(more))
    here, message_id = await begin_reply(admin, agent)
    clock.advance(1)
    restarted = Service(service.settings, clock)
    await restarted.start()
    async with asyncio.timeout(5):
        answer = await Api(restarted, token=admin.token, ip=admin.ip).get(
            path_of(agent, f"/stream/{message_id}")
        )
    assert (answer.status, answer.code) == (410, "stream_expired")
    await restarted.stop()
    more.set()
    await here.end()
