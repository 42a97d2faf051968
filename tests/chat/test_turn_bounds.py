"""Tests of the limits of a turn: tokens, time, and the part of a reply that is kept."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.engine import budget, reply_text
from retinue.chat.models import Conversation
from retinue.chat.replies import background, live
from retinue.chat.turn import runner
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer, hanging
from tests.chat.background_jobs import accept, job_of
from tests.chat.listening import Listener, find_turn, wait_until_quiet
from tests.chat.provider_faults import delta, unfinished_stream
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
from tests.client import Api
from tests.factories.agents import attach_agent, make_agent
from tests.factories.people import People
from tests.tools.servers.rest_api import RestApi

BUDGET = 1_000
REPLY = {"prompt_tokens": 150, "completion_tokens": 50, "total_tokens": 200}


@pytest.fixture
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TURN_TOKENS", BUDGET)


@pytest.mark.usefixtures("small_budget")
async def test_tokens_are_never_overspent_by_more_than_one_reply(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    numbers = iter(range(1000))
    provider.otherwise = lambda _: Reply(
        "Hm.", (Call("weather", f'{{"city": "{next(numbers)}"}}'),), usage=REPLY
    )
    reply = await reply_to(admin, agent)
    assert BUDGET <= reply["usage"]["total_tokens"] <= BUDGET + REPLY["total_tokens"]
    assert len(provider.requests) == 5
    assert reply["finish_reason"] == "length"
    assert len(remote.seen) == 5
    asked_for = [
        one.json.get("max_completion_tokens", one.json.get("max_tokens")) for one in provider.requests
    ]
    assert asked_for == [1000, 800, 600, 400, 200]
    await go_on(admin, agent, provider)


@pytest.mark.usefixtures("small_budget")
async def test_a_prompt_that_would_take_all_the_tokens_is_not_sent(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    answer = await say(admin, agent, context={"page": "x" * 4 * BUDGET})
    assert (answer.status, answer.code) == (422, "token_budget_exceeded")
    assert provider.requests == []
    await go_on(admin, agent, provider)


@pytest.mark.usefixtures("small_budget")
async def test_agents_that_work_at_the_same_time_share_the_tokens(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    """Each alone would keep to the budget; together they must as well."""
    helper = await make_agent(admin, name="Helper", primary_model=agent["primary_model"], max_tokens=400)
    await attach_agent(admin, agent, helper)
    usage = {"prompt_tokens": 10, "completion_tokens": 400, "total_tokens": 410}
    provider.says(
        "", *(Call("delegate_to_helper", f'{{"task": "{number}"}}') for number in range(8)), usage=REPLY
    )
    provider.otherwise = lambda _: Reply("Done.", usage=usage)
    reply = await reply_to(admin, agent)
    assert reply["usage"]["total_tokens"] <= BUDGET + usage["total_tokens"]
    codes = {one["error"]["code"] for one in reply["tool_calls"] if one["error"]}
    assert codes == {"token_budget_exceeded"}


async def test_a_model_that_talks_without_end_is_cut_off(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_text, "MAX_REPLY_CHARACTERS", 1000)
    provider.says("ha" * 1000)
    whole = await reply_to(admin, agent)
    assert (len(whole["message"]["content"]), whole["finish_reason"]) == (1000, "length")
    provider.fails(hanging(unfinished_stream(*[delta("ha" * 10)] * 100)))
    heard = await stream(admin, agent)
    assert (len(text_of(heard)), heard[-1].data["finish_reason"]) == (1000, "length")
    assert heard[-1].data["usage"]["completion_tokens"] >= 250
    await go_on(admin, agent, provider)


async def test_who_hangs_up_has_used_tokens_all_the_same(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "ABANDON_AFTER_SECONDS", 0.05)
    provider.fails(hanging(unfinished_stream(delta("word " * 100))))
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Hello " * 100})
    await listener.until("content_delta")
    await listener.leave()
    await wait_until_quiet(service)
    usage = (await logs_of(admin, agent))[0]["usage"]
    assert usage["prompt_tokens"] >= 150
    assert usage["completion_tokens"] >= 125


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "turn_seconds", lambda *_: 1.5)


@pytest.mark.usefixtures("short_turns")
async def test_a_turn_has_its_time_and_what_was_said_by_then_is_kept(
    admin: Api,
    agent: dict[str, Any],
    weather: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider.fails(hanging(unfinished_stream(delta("So far "))))
    answer = await admin.post(path_of(agent, "/stream"), {"message": "Hello"})
    *_, last = events_of(answer.body)
    assert last == Heard("error", last.id, {"code": "model_timeout", "message": last.data["message"]})
    assert text_of(events_of(answer.body)) == "So far "
    await check_cut(admin, agent, "So far ")

    def call_and_hang(_heard: str) -> Reply:
        provider.fails(hanging())
        return Reply("Let me look.", (Call("weather", '{"city": "Graz"}'),))

    provider.otherwise = call_and_hang
    whole = await say(admin, agent)
    assert (whole.status, whole.code) == (504, "model_timeout")
    await check_cut(admin, agent, "Let me look.")
    # A busy machine may take longer for an answer than a turn may here.
    monkeypatch.undo()
    await go_on(admin, agent, provider)


async def check_cut(api: Api, agent: dict[str, Any], text: str) -> None:
    log = (await logs_of(api, agent))[0]
    assert (log["status"], log["error"]["code"]) == ("failed", "model_timeout")
    reply = (await messages_of(api, log["conversation_id"]))[-1]
    assert (reply["content"], reply["status"]) == (text, "incomplete")


async def test_stopping_twice_stores_what_was_said_once(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(hanging(unfinished_stream(delta("For ever"))))
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "How long?"})
    await listener.until("content_delta")
    message_id = listener.events[0].data["message_id"]
    turn = find_turn(service, message_id)
    for _ in range(20):
        turn.stop()
        await asyncio.sleep(0)
    await listener.end()
    await wait_until_quiet(service)
    stored = await messages_of(admin, listener.events[0].data["conversation_id"])
    assert [one["content"] for one in stored] == ["How long?", "For ever"]


async def test_stopping_while_the_reply_is_stored_is_too_late(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    is_locked = asyncio.Event()

    async def wait_and_end(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(unfinished_stream(delta("Almost ")))
        await is_locked.wait()
        writer.write(delta("done.", "stop") + b"data: [DONE]\n\n")
        await writer.drain()

    provider.fails(wait_and_end)
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Ready?"})
    await listener.until("content_delta")
    ids = listener.events[0].data
    turn = find_turn(service, ids["message_id"])
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.lock(Conversation, ids["conversation_id"])
        is_locked.set()
        await listener.until("content_delta", 2)
        for _ in range(50):
            await asyncio.sleep(0.005)
        turn.stop()
    await listener.end()
    assert listener.events[-1].data["finish_reason"] == "stop"
    _, reply = await messages_of(admin, ids["conversation_id"])
    assert (reply["content"], reply["status"]) == ("Almost done.", "completed")


async def test_an_accepted_turn_that_no_worker_survived_is_told_so(
    service: Service, admin: Api, agent: dict[str, Any], people: People
) -> None:
    lost, waiting = await accept(admin, agent), await accept(admin, agent)
    async with people.context(admin.user.tenant_id) as ctx:
        jobs = ctx.system("the queue of a test")
        (gone,) = [one for one in await jobs.all(background.Job) if one.dedupe_key == lost["job_id"]]
        await jobs.update(gone, state="dead", dedupe_key=None)
    await background.fail_lost_turns(people.context().detached())
    await service.runner.drain()
    told = await job_of(admin, agent, lost)
    assert (told["status"], told["error"]["code"]) == ("failed", "turn_lost")
    assert (await job_of(admin, agent, waiting))["status"] == "completed"
