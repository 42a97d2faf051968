"""A reply that goes on after an approval is heard while it is made, and may still be stopped."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.replies import stream_control
from retinue.chat.replies.live import LiveTurns
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.listening import Listener
from tests.chat.provider_faults import slowly
from tests.chat.speaking import Heard, events_of, path_of, stream, text_of
from tests.client import Api
from tests.factories.tools import change_tool


async def waiting_reply(admin: Api, agent: dict[str, Any], provider: ProviderServer) -> list[Heard]:
    provider.says("One moment.", Call("weather", '{"city": "Graz"}', "call_1"))
    return await stream(admin, agent)


@pytest.fixture
async def guarded(admin: Api, weather: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(stream_control, "_POLL_SECONDS", 0.02)
    return await change_tool(admin, weather, requires_approval=True)


@pytest.mark.one_service("only the process that makes a reply tells it while it is made: ADR 11")
@pytest.mark.usefixtures("guarded")
async def test_the_rest_of_a_reply_comes_while_it_is_made(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    heard = await waiting_reply(admin, agent, provider)
    asked, stopped = heard[-2:]
    path = path_of(agent, f"/stream/{stopped.data['message_id']}")
    early = Listener(admin, path, method="GET", headers={"Last-Event-ID": str(stopped.id)})
    more = asyncio.Event()
    provider.fails(slowly(more))
    await admin.post(f"/api/v1/approvals/{asked.data['approval_id']}/approve", {})
    working = asyncio.create_task(service.runner.drain())
    await early.until("content_delta")
    late = Listener(admin, path, method="GET", headers={"Last-Event-ID": "1"})
    await late.until("tool_result")
    await late.until("content_delta", 2)
    assert not more.is_set()
    more.set()
    await asyncio.gather(working, early.end(), late.end())
    assert [(one.event, one.id) for one in early.events][:2] == [
        ("tool_result", stopped.id + 1),
        ("content_delta", stopped.id + 2),
    ]
    assert text_of(early.events) == "\n\nIt rains."
    assert [one.event for one in late.events].count("message_stop") == 1
    stored = events_of((await admin.get(path)).body)
    assert [(one.event, one.id) for one in stored[1:]] == [(one.event, one.id) for one in late.events]
    assert stored[-1].data == late.events[-1].data == early.events[-1].data
    assert len(service.instance.states[LiveTurns]) == 0


@pytest.mark.one_service("only the process that makes a reply tells it while it is made: ADR 11")
@pytest.mark.usefixtures("guarded")
async def test_a_reply_that_goes_on_is_stopped(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    heard = await waiting_reply(admin, agent, provider)
    asked, stopped = heard[-2:]
    path = path_of(agent, f"/stream/{stopped.data['message_id']}")
    listener = Listener(admin, path, method="GET", headers={"Last-Event-ID": str(stopped.id)})
    provider.fails(slowly(asyncio.Event()))
    await admin.post(f"/api/v1/approvals/{asked.data['approval_id']}/approve", {})
    working = asyncio.create_task(service.runner.drain())
    await listener.until("content_delta")
    stop = path_of(agent, f"/{stopped.data['message_id']}/stop")
    assert (await admin.post(stop, {})).status == 200
    await asyncio.gather(working, listener.end())
    assert listener.events[-1].event == "message_stop"
    assert listener.events[-1].data["finish_reason"] == "cancelled"
