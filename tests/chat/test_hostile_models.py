"""Models and providers that do whatever they like: every turn ends in order, and the conversation goes on."""

from typing import Any

import msgspec
import pytest

from retinue.adapters.llm import Timeouts
from retinue.chat.engine import time_limits
from retinue.kit.clock import ManualClock
from retinue.providers import failover
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, in_bytes
from tests.chat.provider_faults import FAULTS, Case
from tests.chat.speaking import (
    Heard,
    events_of,
    go_on,
    logs_of,
    messages_of,
    path_of,
    reply_to,
    say,
    stream,
    text_of,
)
from tests.client import Api, Response
from tests.factories.agents import attach_tool
from tests.factories.tools import endpoint, make_tool
from tests.tools.servers.rest_api import RestApi

LONGEST_PAUSE_S = 300
"""The longest pause that a provider may ask for."""
SHORT = Timeouts(connect_s=5, first_byte_s=1.5, between_chunks_s=0.5, unstreamed_s=1.5)
"""Long enough for a busy machine to hand the request over: a provider that was never asked is not silent."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failover, "FIRST_RETRY_SECONDS", 0.001)


def read_events(answer: Response) -> tuple[list[Heard], str | None]:
    """Return the events of a stream, and the code of the error that ended it, if any."""
    if answer.status != 200:
        return [], answer.code
    heard = events_of(answer.body)
    *before, last = heard
    assert heard[0].event == "message_start"
    assert last.event in {"message_stop", "error"}
    assert {one.event for one in before} <= {"message_start", "content_delta", "tool_use", "tool_result"}
    return heard, last.data["code"] if last.event == "error" else None


async def check_log(api: Api, agent: dict[str, Any], case: Case) -> None:
    log = (await logs_of(api, agent))[0]
    assert log["status"] == ("failed" if case.code else "completed")
    assert (log["error"] or {}).get("code") == case.code
    assert min(log["usage"].values()) >= 0


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
async def test_whatever_a_provider_does_the_turn_ends_in_order(
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    case: Case,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if case.is_silent:
        monkeypatch.setattr(time_limits, "model_timeouts", lambda *_: SHORT)
    await _answers_in_one_piece(admin, agent, provider, case)
    clock.advance(LONGEST_PAUSE_S)
    await go_on(admin, agent, provider)
    provider.requests.clear()
    await _streams(admin, agent, provider, case)
    clock.advance(LONGEST_PAUSE_S)
    await go_on(admin, agent, provider)


async def _answers_in_one_piece(
    api: Api, agent: dict[str, Any], provider: ProviderServer, case: Case
) -> None:
    provider.fails(*[case.whole] * 10)
    answer = await say(api, agent)
    assert len(provider.requests) == case.requests
    if case.code:
        assert (answer.status, answer.code) == (case.status, case.code)
    else:
        assert answer.status == 200, answer
        assert answer.json()["message"]["content"] == case.text
    await check_log(api, agent, case)


async def _streams(api: Api, agent: dict[str, Any], provider: ProviderServer, case: Case) -> None:
    provider.fails(*[case.streamed] * 10)
    answer = await api.post(path_of(agent, "/stream"), {"message": "Hello"})
    assert len(provider.requests) == case.stream_requests
    heard, code = read_events(answer)
    assert code == case.code
    assert text_of(heard) == (case.heard if case.code else case.text)
    assert answer.status == (case.status if case.code and not case.heard else 200)
    await check_log(api, agent, case)
    if heard:
        _, reply = await messages_of(api, heard[0].data["conversation_id"])
        assert (reply["content"], reply["status"]) == (
            text_of(heard),
            "incomplete" if case.code else "completed",
        )
        again = await api.get(path_of(agent, f"/stream/{reply['id']}"))
        assert text_of(events_of(again.body)) == text_of(heard)


async def test_characters_that_arrive_in_halves_are_whole_again(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    text = "Grüße, 世界 \U0001f980"
    provider.cut = in_bytes
    provider.says(text)
    heard = await stream(admin, agent)
    assert text_of(heard) == text
    _, reply = await messages_of(admin, heard[0].data["conversation_id"])
    assert reply["content"] == text


WILD = (
    Call("", "{}", "nameless"),
    Call("weather", '{"city": "Graz"}', "same"),
    Call("weather", '{"city": "Wien"}', "same"),
    Call("weather", "{not json", "same"),
    Call("wea\0ther\x1b[2J\r\n", "{}", "a\0b"),
    Call("weather", '{"city": "a\\u0000b"}', "\n\nevent: message_stop\ndata: {}\n\n"),
    Call("weather", '{"city": "\\ud800"}', ""),
    Call("x" * 100_000, "[]", "y" * 100_000),
    Call("weather", '{"city": "%s"}' % ("z" * 110_000)),
)


@pytest.mark.parametrize("way", ["", "/stream"])
async def test_wild_tool_calls_are_told_to_the_model_and_stored(
    admin: Api,
    agent: dict[str, Any],
    weather: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
    way: str,
) -> None:
    provider.says("", *WILD)
    provider.says("Sorry.")
    answer = await admin.post(path_of(agent, way), {"message": "Hello"})
    assert answer.status == 200, answer
    said = read_events(answer)[0][-1].data if way else answer.json()
    assert len(said["tool_calls"]) == len(WILD)
    assert len({one["id"] for one in said["tool_calls"]}) == len(WILD)
    assert [one["status"] for one in said["tool_calls"]][:3] == ["failed", "completed", "completed"]
    assert len(provider.requests) == 2
    assert len(remote.seen) <= 3
    log = (await logs_of(admin, agent))[0]
    assert log["status"] == "completed"
    stored = (await messages_of(admin, log["conversation_id"]))[-1]
    assert stored["details"]["tool_calls"] == said["tool_calls"]
    if way:
        again = await admin.get(path_of(agent, f"/stream/{stored['id']}"))
        assert events_of(again.body) == read_events(answer)[0]
    await go_on(admin, agent, provider)


async def test_what_a_tool_gives_is_stored_whatever_is_in_it(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    config = {"base_url": remote.url, "endpoints": endpoint("/scripted")}
    await attach_tool(admin, agent, await make_tool(admin, remote.url, name="Nasty", config=config))
    nasty = {"a\0": "b\0", "c": ["\0", {"d": "\ufffe\u2028"}]}
    remote.answers.append((200, {"Content-Type": "application/json"}, msgspec.json.encode(nasty)))
    provider.says("", Call("nasty", "{}"))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    assert reply["message"]["content"] == "Done."
    await go_on(admin, agent, provider)
