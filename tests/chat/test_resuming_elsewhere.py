"""A client that comes back to another process: its reply is made to the end, and it hears all of it."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat import live, resuming
from retinue.chat.models import Message
from retinue.kit.clock import HeldClock
from tests.adapters.llm_server import ProviderServer
from tests.chat.listening import Listener, turns_of, until_quiet
from tests.chat.speaking import path_of, text_of
from tests.chat.test_continued_streams import slowly
from tests.client import Api
from tests.factories.people import People

GRACE_S = 0.4


@pytest.fixture
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "GRACE_S", GRACE_S)
    monkeypatch.setattr(resuming, "_LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(resuming, "_SAY_EVERY_S", 0.02)


async def until_followed(people: People, admin: Api, message_id: str) -> None:
    """Until the other process has said that somebody waits there."""
    async with people.context(admin.user.tenant_id) as ctx, asyncio.timeout(10):
        looking = ctx.apart()
        while True:
            question = await looking.db.find(Message, reply_id=message_id)
            if question is not None and question.updated_at != question.created_at:
                return
            await asyncio.sleep(0.02)


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_not_given_up_while_somebody_waits_for_it_in_another_process(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: HeldClock,
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
    await until_followed(people, admin, message_id)
    await here.leave()
    await asyncio.sleep(3 * GRACE_S)
    assert sum(map(len, turns_of(service))) == 1
    more.set()
    await there.end()
    assert text_of(there.events) == "rains."
    assert [one.id for one in there.events] == [3, 4]
    assert there.events[-1].data["finish_reason"] == "stop"
    await elsewhere.stop()


@pytest.mark.usefixtures("_in_a_hurry")
async def test_a_turn_is_given_up_once_nobody_waits_for_it_anywhere(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: HeldClock,
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
    await until_followed(people, admin, message_id)
    await here.leave()
    await there.leave()
    await until_quiet(service)
    await elsewhere.stop()
