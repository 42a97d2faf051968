"""Tests of a visitor's transcript, and of sessions that are never continued."""

import asyncio
import hashlib
import hmac
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, refusing
from tests.client import Api, Response
from tests.embed.keys import Holder
from tests.factories.agents import attach_tool
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import rest_api

SESSION = "5f2b8c0e9d7a4136b8e2c4d6f8a0b1c3"
PAGE = "https://shop.example.com"


async def read(holder: Holder, session_id: str = SESSION, **more: Any) -> Response:
    path = holder.path.removesuffix("/chat") + "/transcript"
    return await holder.api.post(path, {"session_id": session_id, **more}, headers=holder.headers)


async def test_what_was_said_is_read_back_without_what_stands_behind_it(
    holder: Holder, provider: ProviderServer
) -> None:
    begun = await read(holder)
    assert begun.status == 200
    assert (begun.json()["messages"], begun.json()["conversation_id"]) == ([], None)
    provider.says("Good morning.")
    await holder.say("Hello", session_id=SESSION, origin=PAGE)
    provider.says("At nine.")
    await holder.say("When?", session_id=SESSION, origin=PAGE)
    transcript = (await read(holder)).json()
    assert [(one["role"], one["content"]) for one in transcript["messages"]] == [
        ("user", "Hello"),
        ("assistant", "Good morning."),
        ("user", "When?"),
        ("assistant", "At nine."),
    ]
    assert set(transcript["messages"][1]) == {
        "id",
        "role",
        "content",
        "created_at",
        "is_waiting",
        "has_failed",
        "sources",
        "attachments",
    }
    assert transcript["agent"]["id"] == holder.agent["id"]


async def test_only_the_session_of_this_key_and_visitor_is_read(
    holder: Holder, key_for: Any, agent: dict[str, Any], provider: ProviderServer
) -> None:
    secret = holder.key["identity_secret"]
    proof = hmac.new(secret.encode(), b"v-1", hashlib.sha256).hexdigest()
    provider.says("Hello.")
    said = await holder.say("I am known", session_id=SESSION, user={"id": "v-1", "hash": proof})
    assert said.status == 200, said
    assert (await read(holder)).json()["messages"] == [], "a visitor that is not proven"
    assert len((await read(holder, user={"id": "v-1", "hash": proof})).json()["messages"]) == 2
    assert (await read(holder, user={"id": "v-1", "hash": "0" * 64})).status == 422
    other = await key_for(agent)
    assert (await read(other)).json()["messages"] == [], "another key"
    assert (await read(holder, session_id="short")).details.keys() == {"session_id"}
    path = holder.path.removesuffix("/chat") + "/transcript"
    assert (await holder.api.post(path, {"session_id": SESSION})).status == 401


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_in_a_page_a_session_that_can_be_guessed_is_never_continued(
    holder: Holder, provider: ProviderServer, is_streamed: bool
) -> None:
    seen, warned = [], []
    for _ in range(2):
        provider.says("Hello.")
        if is_streamed:
            heard = await holder.hear("Hi", session_id="abc", origin=PAGE)
            seen.append(heard[0].data["conversation_id"])
            warned.append(heard[-1].data["warnings"])
        else:
            reply = (await holder.say("Hi", session_id="abc", origin=PAGE)).json()
            seen.append(reply["conversation_id"])
            warned.append(reply["warnings"])
            assert reply["session_id"] == "abc"
    assert len(set(seen)) == 2
    assert all("session_id_too_short" in one for one in warned)


async def test_a_program_continues_any_session_and_a_page_one_that_nobody_can_guess(
    holder: Holder, provider: ProviderServer
) -> None:
    for session_id, origin in (("abc", None), (SESSION, PAGE), ("x" * 16, PAGE)):
        seen = set()
        for _ in range(2):
            provider.says("Hello.")
            reply = (await holder.say("Hi", session_id=session_id, origin=origin)).json()
            assert "session_id_too_short" not in reply["warnings"]
            seen.add(reply["conversation_id"])
        assert len(seen) == 1, session_id


async def test_a_reply_that_waits_for_an_approval_says_so_until_it_is_decided(
    service: Service, admin: Api, agent: dict[str, Any], holder: Holder, provider: ProviderServer
) -> None:
    async with rest_api() as remote:
        tool = await make_tool(admin, remote.url, name="Refund")
        await attach_tool(admin, agent, tool, requires_approval=True)
        provider.says("I have to ask.", Call("refund", '{"amount": "CANARY"}', "call_1"))
        await holder.say("My money back!", session_id=SESSION, origin=PAGE)
        waiting = await read(holder)
        assert b"CANARY" not in waiting.body
        assert [one["is_waiting"] for one in waiting.json()["messages"]] == [False, True]
        (pending,) = (await admin.get("/api/v1/approvals")).json()["data"]
        assert pending["payload"]["message"] == "My money back!"
        held = asyncio.create_task(read(holder, wait_for=waiting.json()["messages"][-1]["id"]))
        await asyncio.sleep(0.2)
        assert not held.done(), "the response is held while the reply waits"
        provider.says("You get it back.")
        await admin.post(f"/api/v1/approvals/{pending['id']}/approve", {})
        await service.runner.drain()
        last = (await asyncio.wait_for(held, 3)).json()["messages"][-1]
        assert last == (await read(holder)).json()["messages"][-1]
        assert (last["content"], last["is_waiting"]) == ("I have to ask.\n\nYou get it back.", False)


async def test_a_message_without_a_reply_is_marked_once_its_turn_has_ended(
    holder: Holder, provider: ProviderServer
) -> None:
    provider.says("Good morning.")
    await holder.say("Hello", session_id=SESSION, origin=PAGE)
    provider.fails(refusing(400, b"{}"))
    assert (await holder.say("When?", session_id=SESSION, origin=PAGE)).status == 502
    messages = (await read(holder)).json()["messages"]
    assert [(one["content"], one["has_failed"]) for one in messages] == [
        ("Hello", False),
        ("Good morning.", False),
        ("When?", True),
    ]


async def test_waiting_for_a_reply_of_somebody_else_holds_nothing(
    holder: Holder, key_for: Any, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Hello.")
    await holder.say("Hi", session_id=SESSION, origin=PAGE)
    for unknown in ("msg_x", (await read(holder)).json()["messages"][0]["id"]):
        answer = await asyncio.wait_for(read(holder, wait_for=unknown), 2)
        assert len(answer.json()["messages"]) == 2
    other = await key_for(agent)
    assert (await asyncio.wait_for(read(other, wait_for="msg_x"), 2)).json()["messages"] == []
