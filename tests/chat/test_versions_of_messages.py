"""Versions of messages: questions that were edited, replies that were written again, and their branches."""

from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.approving import questions_of
from tests.chat.long_talks import SUMMARY, LongTalk, long_agent, talk_at_length
from tests.chat.speaking import events_of, messages_of, path_of, reply_to, say, stream, text_of
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi

pytestmark = pytest.mark.either_database

Json = dict[str, Any]


class Talk:
    """A conversation with an agent, message by message."""

    def __init__(self, api: Api, agent: Json) -> None:
        self.api, self.agent, self.id = api, agent, ""

    async def says(self, text: str, **more: Any) -> Json:
        more = {"conversation_id": self.id, **more} if self.id else more
        reply = await reply_to(self.api, self.agent, text, **more)
        self.id = reply["conversation_id"]
        return reply

    async def shown(self, leaf: str | None = None, **query: Any) -> list[Json]:
        path = f"/api/v1/conversations/{self.id}/messages"
        answer = await self.api.get(path, query={**query, **({"leaf": leaf} if leaf else {})})
        assert answer.status == 200, answer
        return answer.json()["data"]

    async def texts(self, leaf: str | None = None) -> list[str]:
        return [one["content"] for one in await self.shown(leaf)]


@pytest.fixture
def talk(admin: Api, agent: Json) -> Talk:
    return Talk(admin, agent)


def prompted(provider: ProviderServer) -> list[str]:
    """Return the last prompt without the system prompt."""
    return [one["content"] for one in provider.last.json["messages"][1:]]


def versions_of(message: Json) -> tuple[int, int]:
    return message["versions"]["at"], message["versions"]["of"]


async def test_a_conversation_without_versions_is_one_path(talk: Talk) -> None:
    await talk.says("One")
    last = await talk.says("Two")
    shown = await talk.shown()
    assert [one["parent_id"] for one in shown] == [None, *(one["id"] for one in shown[:-1])]
    assert [one["versions"] for one in shown] == [{"at": 1, "of": 1, "leaf_ids": []}] * 4
    assert await talk.shown(per_page=2, page=2) == shown[2:]
    assert await talk.shown(last["message"]["id"]) == shown
    assert await talk.shown(shown[1]["id"]) == shown[:2]


async def test_an_edited_question_has_a_branch_of_its_own(talk: Talk, provider: ProviderServer) -> None:
    await talk.says("One")
    first = await talk.says("Two")
    question = (await talk.shown())[2]
    edited = await talk.says("Two, better", edit_of=question["id"])
    assert prompted(provider) == ["One", "You said: One", "Two, better"]
    assert await talk.texts() == ["One", "You said: One", "Two, better", "You said: Two, better"]
    assert await talk.texts(first["message"]["id"]) == ["One", "You said: One", "Two", "You said: Two"]
    shown = await talk.shown()
    assert shown[2]["parent_id"] == question["parent_id"] == shown[1]["id"]
    leaves = [first["message"]["id"], edited["message"]["id"]]
    assert shown[2]["versions"] == {"at": 2, "of": 2, "leaf_ids": leaves}
    assert [versions_of(one) for one in await talk.shown(leaves[0])] == [(1, 1), (1, 1), (1, 2), (1, 1)]
    await talk.says("Three")
    assert prompted(provider) == ["One", "You said: One", "Two, better", "You said: Two, better", "Three"]
    assert (await talk.shown(per_page=2, page=3))[0]["content"] == "Three"


async def test_the_first_question_can_be_edited(talk: Talk, provider: ProviderServer) -> None:
    await talk.says("Wrong")
    question = (await talk.shown())[0]
    await talk.says("Right", edit_of=question["id"])
    assert prompted(provider) == ["Right"]
    await talk.says("Next")
    assert prompted(provider) == ["Right", "You said: Right", "Next"]
    assert (await talk.shown())[0]["parent_id"] is None


async def test_a_reply_written_again_is_a_version_of_the_reply(talk: Talk, provider: ProviderServer) -> None:
    await talk.says("One")
    provider.says("First try.")
    first = await talk.says("Two")
    provider.says("Second try.")
    second = await talk.says("(not used)", regenerate_of=first["message"]["id"])
    assert prompted(provider) == ["One", "You said: One", "Two"]
    assert await talk.texts() == ["One", "You said: One", "Two", "Second try."]
    assert [versions_of(one) for one in await talk.shown()] == [(1, 1), (1, 1), (1, 1), (2, 2)]
    provider.says("Third try.")
    third = await talk.says("(not used)", regenerate_of=second["message"]["id"])
    shown = await talk.shown(second["message"]["id"])
    leaves = [reply["message"]["id"] for reply in (first, second, third)]
    assert shown[-1]["versions"] == {"at": 2, "of": 3, "leaf_ids": leaves}


async def test_an_older_branch_goes_on_with_parent_id(talk: Talk, provider: ProviderServer) -> None:
    first = await talk.says("One")
    question = (await talk.shown())[0]
    await talk.says("Other", edit_of=question["id"])
    await talk.says("Go on", parent_id=first["message"]["id"])
    assert prompted(provider) == ["One", "You said: One", "Go on"]
    assert await talk.texts() == ["One", "You said: One", "Go on", "You said: Go on"]


@pytest.mark.parametrize("way", ["stream", "async", "repeated"])
async def test_every_way_of_asking_makes_versions(
    service: Service, talk: Talk, admin: Api, agent: Json, provider: ProviderServer, way: str
) -> None:
    provider.says("First try.")
    first = await talk.says("One")
    provider.says("Second try.")
    body = {"conversation_id": talk.id, "regenerate_of": first["message"]["id"]}
    if way == "stream":
        (start, *_) = await stream(admin, agent, "-", **body)
        resumed = await admin.get(path_of(agent, f"/stream/{start.data['message_id']}"))
        assert text_of(events_of(resumed.body)) == "Second try."
        old = await admin.get(path_of(agent, f"/stream/{first['message']['id']}"))
        assert text_of(events_of(old.body)) == "First try."
    elif way == "async":
        assert (await admin.post(path_of(agent, "/async"), {"message": "-", **body})).status == 202
        await service.runner.drain()
    else:
        headers = {"Idempotency-Key": "again"}
        said = {"message": "-", **body}
        once, twice = [await admin.post(path_of(agent), said, headers=headers) for _ in range(2)]
        assert once.json() == twice.json()
    assert prompted(provider) == ["One"]
    assert await talk.texts() == ["One", "Second try."]
    assert versions_of((await talk.shown())[1]) == (2, 2)


async def test_a_question_that_was_not_answered_is_asked_again(talk: Talk, provider: ProviderServer) -> None:
    await talk.says("One")
    provider.fails(refusing(400))
    assert (await say(talk.api, talk.agent, "Two", conversation_id=talk.id)).status >= 500
    question = (await talk.shown())[-1]
    await talk.says("-", regenerate_of=question["id"])
    assert await talk.texts() == ["One", "You said: One", "Two", "You said: Two"]
    assert [versions_of(one) for one in await talk.shown()] == [(1, 1)] * 4


async def test_a_place_that_does_not_exist_is_refused(talk: Talk, admin: Api, agent: Json) -> None:
    reply = await talk.says("One")
    question, stored = await talk.shown()
    other = Talk(admin, agent)
    await other.says("Elsewhere")
    for status, named in (
        (422, {"edit_of": stored["id"]}),
        (422, {"parent_id": question["id"]}),
        (422, {"edit_of": question["id"], "regenerate_of": stored["id"]}),
        (422, {"edit_of": question["id"], "conversation_id": None}),
        (404, {"edit_of": (await other.shown())[0]["id"]}),
        (404, {"regenerate_of": "msg_none"}),
    ):
        answer = await say(admin, agent, **{"conversation_id": talk.id, **named})
        assert answer.status == status, (named, answer)
    assert await talk.shown() == [question, stored]
    refused = await admin.get(
        f"/api/v1/conversations/{other.id}/messages", query={"leaf": reply["message"]["id"]}
    )
    assert refused.code == "message_not_found"


async def test_nobody_else_makes_a_version(talk: Talk, agent: Json, people: People) -> None:
    await talk.says("One")
    question = (await talk.shown())[0]
    answer = await say(await people.signed_in(), agent, conversation_id=talk.id, edit_of=question["id"])
    assert answer.code == "conversation_not_found"


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_tool_that_writes_asks_before_it_runs_in_another_version(
    service: Service, talk: Talk, admin: Api, provider: ProviderServer, remote: RestApi, method: str
) -> None:
    endpoints = {"order": {"method": method, "path": "/echo"}}
    tool = await make_tool(admin, remote.url, config={"base_url": remote.url, "endpoints": endpoints})
    await attach_tool(admin, talk.agent, tool)
    (name,) = await _offered(talk, provider)
    provider.says("", Call(name, "{}", "call_1"))
    provider.says("Ordered.")
    first = await talk.says("Order a lamp")
    assert [call["status"] for call in first["tool_calls"]] == ["completed"]
    before = len(remote.seen)
    provider.says("", Call(name, "{}", "call_2"))
    provider.says("Ordered again.")
    again = await talk.says("-", regenerate_of=first["message"]["id"])
    if method == "GET":
        assert again["finish_reason"] == "stop"
        assert len(remote.seen) == before + 1
        return
    assert again["finish_reason"] == "awaiting_approval"
    assert len(remote.seen) == before
    (approval_id,) = questions_of(again["tool_calls"])
    assert (await admin.post(f"/api/v1/approvals/{approval_id}/approve", {})).status == 200
    await service.runner.drain()
    assert len(remote.seen) == before + 1
    last = (await messages_of(admin, talk.id))[-1]
    assert (last["content"], versions_of(last)) == ("Ordered again.", (2, 2))


@pytest.mark.parametrize("has_called", [True, False], ids=["after-a-call", "before-any"])
async def test_a_tool_that_writes_asks_before_it_runs_again_after_a_turn_that_failed(
    talk: Talk, admin: Api, provider: ProviderServer, remote: RestApi, has_called: bool
) -> None:
    """A turn that failed before it wrote anything leaves no reply, but its tools may have run."""
    endpoints = {"order": {"method": "POST", "path": "/echo"}}
    tool = await make_tool(admin, remote.url, config={"base_url": remote.url, "endpoints": endpoints})
    await attach_tool(admin, talk.agent, tool)
    (name,) = await _offered(talk, provider)
    await talk.says("Hello")
    if has_called:
        provider.says("", Call(name, "{}", "call_1"))
    echo, provider.otherwise = provider.otherwise, _hang_up
    assert (await say(talk.api, talk.agent, "Order a lamp", conversation_id=talk.id)).status >= 500
    provider.otherwise = echo
    question = (await talk.shown())[-1]
    before = len(remote.seen)
    assert before == int(has_called)
    provider.says("", Call(name, "{}", "call_2"))
    provider.says("Ordered.")
    again = await talk.says("-", regenerate_of=question["id"])
    assert again["finish_reason"] == ("awaiting_approval" if has_called else "stop")
    assert len(remote.seen) == (before if has_called else before + 1)


def _hang_up(_heard: str) -> Reply:
    raise ConnectionResetError


async def _offered(talk: Talk, provider: ProviderServer) -> list[str]:
    await Talk(talk.api, talk.agent).says("Hello")
    return [one["function"]["name"] for one in provider.last.json["tools"]]


async def test_an_export_has_all_versions_and_markdown_the_newest_path(talk: Talk, admin: Api) -> None:
    await talk.says("One")
    question = (await talk.shown())[0]
    await talk.says("Two", edit_of=question["id"])
    path = f"/api/v1/conversations/{talk.id}"
    exported = (await admin.get(f"{path}/export")).json()["messages"]
    assert [one["content"] for one in exported] == ["One", "You said: One", "Two", "You said: Two"]
    assert versions_of(exported[2]) == (2, 2)
    text = (await admin.get(f"{path}/export", query={"format": "md"})).body.decode()
    assert "You said: Two" in text
    assert "You said: One" not in text
    assert (await admin.get(path)).json()["message_count"] == 4
    assert (await admin.delete(path)).status == 204


async def test_a_summary_counts_for_the_branches_that_have_what_it_stands_for(
    admin: Api, provider: ProviderServer
) -> None:
    talk_at_length(provider)
    talk = LongTalk(admin, await long_agent(admin, provider), provider)
    while not talk.summaries():
        await talk.say(f"What about day {len(talk.replies)}?")
        assert len(talk.replies) < 40
    branch = Talk(admin, talk.agent)
    branch.id = talk.conversation_id
    questions = [one["id"] for one in await branch.shown(per_page=100) if one["role"] == "user"]
    await branch.says("What about the last day?", edit_of=questions[-1])
    assert SUMMARY in provider.last.body.decode()
    await branch.says("What about the second day?", edit_of=questions[1])
    assert "SUMMARY" not in provider.last.body.decode()
    assert "What about day 0?" in provider.last.body.decode()
