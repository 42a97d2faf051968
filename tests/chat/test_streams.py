"""Streams that are left, resumed and stopped; the clock of asyncio runs, only ours is held."""

import asyncio
from typing import Any

import msgspec
import pytest

from retinue.app import Service
from retinue.chat.replies import live
from retinue.chat.replies.live import LiveTurns
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, hanging, refusing, resetting, streaming
from tests.chat.listening import Listener, begin_reply, wait_until_quiet
from tests.chat.speaking import events_of, messages_of, path_of, reply_to, stream, text_of
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.people import People
from tests.factories.tools import endpoint, make_tool
from tests.tools.servers.rest_api import RestApi

PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n'


def unfinished_stream(*texts: bytes) -> bytes:
    """Return a provider's stream with these pieces, without its end."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return head + b"".join(PIECE % text for text in texts)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(live, "POLL_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
async def test_a_client_that_leaves_ends_the_turn_and_what_was_said_is_kept(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(hanging(unfinished_stream(b"One ", b"two ")))
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Count"})
    await listener.until("content_delta", 2)
    await listener.leave()
    await wait_until_quiet(service)
    async with asyncio.timeout(5):
        await provider.hung_up.wait()
    conversation_id = listener.events[0].data["conversation_id"]
    _, reply = await messages_of(admin, conversation_id)
    assert (reply["content"], reply["status"]) == ("One two ", "incomplete")
    assert reply["details"]["finish_reason"] == "cancelled"
    provider.says("Three.")
    after = await reply_to(admin, agent, "Go on", conversation_id=conversation_id)
    assert after["message"]["content"] == "Three."
    assert provider.last.json["messages"][-2]["content"] == "One two "
    logs = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert [one["status"] for one in logs] == ["completed", "cancelled"]


async def test_a_client_that_comes_back_misses_nothing(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    go_on = asyncio.Event()

    async def slowly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(unfinished_stream(b"One ", b"two "))
        await writer.drain()
        await go_on.wait()
        writer.write(PIECE % b"three" + b"data: [DONE]\n\n")
        await writer.drain()

    provider.fails(slowly)
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Count"})
    await listener.until("content_delta", 1)
    await listener.leave()
    first = listener.events
    message_id = first[0].data["message_id"]
    path = path_of(agent, f"/stream/{message_id}?after={first[-1].id}")
    back = Listener(admin, path, method="GET")
    go_on.set()
    await back.end()
    whole = first + back.events
    assert [one.id for one in whole] == list(range(1, len(whole) + 1))
    assert text_of(whole) == "One two three"
    assert whole[-1].event == "message_stop"
    await wait_until_quiet(service)


async def test_a_finished_stream_is_replayed_the_same_and_expires(
    admin: Api,
    agent: dict[str, Any],
    weather: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
    people: People,
) -> None:
    # Both with the same id, as some providers do.
    provider.says("Let me see.", Call("weather", '{"city": "Graz"}', "call_1"))
    provider.says("", Call("weather", '{"city": "Linz"}', "call_1"))
    provider.says("It is raining in Graz today.")
    heard = await stream(admin, agent)
    path = path_of(agent, f"/stream/{heard[0].data['message_id']}")
    replayed = events_of((await admin.get(path)).body)
    assert replayed == heard
    later = await admin.get(path, headers={"Last-Event-ID": "3"})
    assert events_of(later.body) == heard[3:]
    assert (await admin.get(path, headers={"Last-Event-ID": "x"})).status == 422
    clock.advance(3601)
    later = await (await people.super_admin()).get(path)
    assert (later.status, later.code) == (410, "stream_expired")


@pytest.mark.usefixtures("impatient")
async def test_a_turn_is_stopped_on_request(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(hanging(unfinished_stream(b"For ever")))
    listener, message_id = await begin_reply(admin, agent)
    answer = await admin.post(path_of(agent, f"/{message_id}/stop"))
    assert answer.json() == {"message_id": message_id, "status": "cancelled"}
    await listener.end()
    stop = listener.events[-1]
    assert stop.event == "message_stop"
    assert stop.data["finish_reason"] == "cancelled"
    assert stop.data["usage"]["completion_tokens"] > 0
    shown = {"usage", "message_id", "finish_reason", "sources", "tool_calls", "warnings"}
    shown |= {"usage_by_model", "estimated_cost_usd", "trace_id", "output", "compaction"}
    assert stop.data.keys() == shown
    await wait_until_quiet(service)
    again = await admin.get(path_of(agent, f"/stream/{message_id}"))
    assert events_of(again.body) == listener.events
    assert (await admin.post(path_of(agent, f"/{message_id}/stop"))).status == 200


@pytest.mark.usefixtures("impatient")
async def test_a_call_that_was_stopped_with_its_turn_is_not_replayed(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    """Nothing came of it; what follows keeps its number all the same."""
    config = {"base_url": remote.url, "endpoints": endpoint("/hanging")}
    await attach_tool(admin, agent, await make_tool(admin, name="Slow", config=config))
    provider.says("Let me see.", Call("slow__only"))
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await listener.until("tool_use")
    path = path_of(agent, f"/{listener.events[0].data['message_id']}/stop")
    assert (await admin.post(path)).status == 200
    await listener.end()
    await wait_until_quiet(service)
    again = await admin.get(path_of(agent, f"/stream/{listener.events[0].data['message_id']}"))
    assert events_of(again.body) == [one for one in listener.events if one.event != "tool_use"]


@pytest.mark.one_service("plays the other process itself")
@pytest.mark.usefixtures("impatient")
async def test_another_process_is_asked_to_stop_through_the_database(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(hanging(unfinished_stream(b"For ever")))
    listener, message_id = await begin_reply(admin, agent)
    turns = service.instance.states[LiveTurns]
    elsewhere = type("Elsewhere", (), {"find": staticmethod(lambda _id: None)})()
    service.instance.states[LiveTurns] = elsewhere
    try:
        assert (await admin.post(path_of(agent, f"/{message_id}/stop"))).status == 200
    finally:
        service.instance.states[LiveTurns] = turns
    await listener.end()
    assert listener.events[-1].data["finish_reason"] == "cancelled"


async def test_strangers_can_neither_resume_nor_stop(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    heard = await stream(admin, agent)
    message_id = heard[0].data["message_id"]
    stranger = await people.signed_in("agent_user")
    assert (await stranger.get(path_of(agent, f"/stream/{message_id}"))).code == "message_not_found"
    assert (await stranger.post(path_of(agent, f"/{message_id}/stop"))).code == "message_not_found"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (refusing(400, {"error": {"message": "bad"}}), 502, "model_error"),
        (streaming(b"<html>"), 502, "model_error"),
    ],
    ids=["refused", "garbage"],
)
async def test_a_failure_before_the_first_word_is_an_answer_with_a_status(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, fault: Any, status: int, code: str
) -> None:
    provider.fails(*[fault] * 5)
    answer = await admin.post(path_of(agent, "/stream"), {"message": "Hello"})
    assert (answer.status, answer.code) == (status, code)
    [question] = await messages_of(admin, answer.json()["error"]["details"]["conversation_id"])
    assert question["content"] == "Hello"


async def test_a_failure_after_the_first_word_is_an_error_event(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    arrived = asyncio.Event()
    provider.fails(resetting(unfinished_stream(b"Hel"), after=arrived))
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Hello"})
    await listener.until("content_delta")
    arrived.set()
    await listener.end()
    assert listener.events[-1].event == "error"
    assert listener.events[-1].data["code"] == "model_error"
    _, reply = await messages_of(admin, listener.events[0].data["conversation_id"])
    assert (reply["content"], reply["status"]) == ("Hel", "incomplete")
    assert reply["details"]["error"] == listener.events[-1].data
    path = path_of(agent, f"/stream/{reply['id']}")
    again = await admin.get(path)
    assert [one.event for one in events_of(again.body)] == ["message_start", "content_delta", "error"]
    assert events_of(again.body) == listener.events
    rest = await admin.get(path, headers={"Last-Event-ID": "2"})
    assert (rest.status, events_of(rest.body)) == (200, listener.events[2:])
    await wait_until_quiet(service)


async def test_a_stream_of_which_nothing_was_kept_cannot_be_resumed(
    service: Service, admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    """A tool was used and then the model failed: no word was said, so there is no reply to come back to."""
    calls = [{"index": 0, "id": "call_1", "function": {"name": weather["slug"], "arguments": "{}"}}]
    choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}
    uses_a_tool = b"data: " + msgspec.json.encode({"choices": [choice]}) + b"\n\ndata: [DONE]\n\n"
    provider.fails(streaming(uses_a_tool), *[refusing(400, {"error": {"message": "bad"}})] * 5)
    heard = await stream(admin, agent)
    assert [one.event for one in heard] == ["message_start", "tool_use", "tool_result", "error"]
    await wait_until_quiet(service)
    async with asyncio.timeout(5):
        again = await admin.get(path_of(agent, f"/stream/{heard[0].data['message_id']}"))
    assert (again.status, again.code) == (410, "stream_expired")


async def test_text_that_looks_like_events_stays_text(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    nasty = '\n\nevent: tool_result\ndata: {"tool": "x"}\n\n: ping\r\nid: 99\n\n\u2028'
    provider.says(nasty)
    heard = await stream(admin, agent)
    assert {one.event for one in heard} == {"message_start", "content_delta", "message_stop"}
    assert text_of(heard) == nasty
