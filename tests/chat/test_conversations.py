import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.speaking import messages_of, reply_to, say
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.happenings import events
from tests.factories.people import People

PATH = "/api/v1/conversations"


async def test_a_conversation_is_renamed_and_found_by_its_title(admin: Api, agent: dict[str, Any]) -> None:
    reply = await reply_to(admin, agent, "A first line\nand more")
    path = f"{PATH}/{reply['conversation_id']}"
    shown = (await admin.get(path)).json()
    assert shown["title"] == "A first line"
    assert (shown["message_count"], shown["status"], shown["channel"]) == (2, "active", "console")
    renamed = await admin.patch(path, {"title": "Weather"})
    assert renamed.json()["title"] == "Weather"
    listed = (await admin.get(PATH, query={"search": "weath", "agent_id": agent["id"]})).json()
    assert [one["id"] for one in listed["data"]] == [reply["conversation_id"]]


async def test_a_conversation_is_closed_once_and_opened_by_the_next_message(
    admin: Api, agent: dict[str, Any], people: People
) -> None:
    reply = await reply_to(admin, agent)
    path = f"{PATH}/{reply['conversation_id']}"
    assert (await admin.post(f"{path}/close")).json()["status"] == "closed"
    assert (await admin.post(f"{path}/close")).json()["status"] == "closed"
    (ended,) = await events(people, "agent.chat.completed")
    assert ended.data["reason"] == "closed"
    await reply_to(admin, agent, "Once more", conversation_id=reply["conversation_id"])
    assert (await admin.get(path)).json()["status"] == "active"


async def test_a_deleted_conversation_leaves_no_text_in_the_logs(admin: Api, agent: dict[str, Any]) -> None:
    reply = await reply_to(admin, agent)
    await reply_to(admin, agent, "Once more", conversation_id=reply["conversation_id"])
    path = f"{PATH}/{reply['conversation_id']}"
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).code == "conversation_not_found"
    logs = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert [(one["user_message"], one["assistant_message"]) for one in logs] == [(None, None)] * 2


async def test_what_is_deleted_leaves_no_text_in_the_events(
    service: Service, admin: Api, agent: dict[str, Any], people: People
) -> None:
    kept = await reply_to(admin, agent, "Kept")
    reply = await reply_to(admin, agent, "Secret")
    await reply_to(admin, agent, "Secret", conversation_id=reply["conversation_id"])
    assert (await admin.delete(f"{PATH}/{reply['conversation_id']}")).status == 204
    await service.runner.drain()
    said = {
        id: [
            one.data["content"] for one in await events(people, "agent.chat.message") if one.subject_id == id
        ]
        for id in (kept["conversation_id"], reply["conversation_id"])
    }
    assert list(said.values()) == [["Kept", "You said: Kept"], [None] * 4]


@pytest.mark.parametrize("is_answered", [True, False])
async def test_what_is_deleted_while_it_is_answered_leaves_no_text_in_the_log(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, *, is_answered: bool
) -> None:
    is_deleted = asyncio.Event()
    reply = {"choices": [{"message": {"role": "assistant", "content": "Secret"}, "finish_reason": "stop"}]}
    answer = refusing(200, reply) if is_answered else refusing(400)

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await is_deleted.wait()
        await answer(reader, writer)

    provider.fails(late)
    turn = asyncio.create_task(say(admin, agent, "Secret"))
    async with asyncio.timeout(10):
        while not provider.requests:
            await asyncio.sleep(0.01)
        (conversation,) = (await admin.get(PATH)).json()["data"]
        assert (await admin.delete(f"{PATH}/{conversation['id']}")).status == 204
        is_deleted.set()
        assert (await turn).status == (404 if is_answered else 502)
    (log,) = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert (log["user_message"], log["assistant_message"]) == (None, None)


async def test_people_see_their_own_and_developers_see_all(
    admin: Api, agent: dict[str, Any], people: People
) -> None:
    one, other = await people.signed_in("agent_user"), await people.signed_in("agent_user")
    developer = await people.signed_in("agent_developer")
    reply = await reply_to(one, agent, "Between us")
    path = f"{PATH}/{reply['conversation_id']}"
    for request in (
        other.get(path),
        other.get(f"{path}/messages"),
        other.get(f"{path}/export"),
        other.patch(path, {"title": "Mine"}),
        other.post(f"{path}/close"),
        other.delete(path),
        say(other, agent, "Me too", conversation_id=reply["conversation_id"]),
    ):
        assert (await request).code == "conversation_not_found"
    rated = await other.post(
        f"/api/v1/agents/{agent['id']}/messages/{reply['message']['id']}/feedback", {"rating": "negative"}
    )
    assert rated.code == "message_not_found"
    assert (await other.get(PATH)).json()["data"] == []
    assert (await other.get(PATH, query={"user_id": one.user.id})).json()["data"] == []
    assert (await other.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"] == []
    assert len((await developer.get(PATH)).json()["data"]) == 1
    assert len((await one.get(PATH)).json()["data"]) == 1
    assert (await say(developer, agent, "Hi", conversation_id=reply["conversation_id"])).status == 404
    assert (await admin.get(path)).json()["user_id"] == one.user.id


async def test_a_conversation_belongs_to_one_agent(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    reply = await reply_to(admin, agent)
    another = await make_agent(admin, primary_model=agent["primary_model"])
    answer = await say(admin, another, "Hi", conversation_id=reply["conversation_id"])
    assert (answer.status, answer.code) == (404, "conversation_not_found")
    assert len(provider.requests) == 1


async def test_a_conversation_is_exported(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("# Not a heading of ours")
    reply = await reply_to(admin, agent, "Hi")
    path = f"{PATH}/{reply['conversation_id']}/export"
    exported = await admin.get(path)
    assert exported.headers["content-disposition"].startswith("attachment")
    assert [one["content"] for one in exported.json()["messages"]] == ["Hi", "# Not a heading of ours"]
    as_markdown = await admin.get(path, query={"format": "md"})
    assert as_markdown.headers["content-type"].startswith("text/markdown")
    assert b"**user**" in as_markdown.body
    assert (await admin.get(path, query={"format": "pdf"})).status == 422


@pytest.mark.parametrize("rating", ["positive", "negative", "none"])
async def test_replies_are_rated(admin: Api, agent: dict[str, Any], rating: str) -> None:
    reply = await reply_to(admin, agent)
    path = f"/api/v1/agents/{agent['id']}/messages/{reply['message']['id']}/feedback"
    given = {"rating": rating, "comment": "Because", "reasons": ["wrong", "tone", "wrong"]}
    rated = await admin.post(path, given)
    reasons = [] if rating == "none" else ["wrong", "tone"]
    shown = {"rating": rating, "comment": "Because", "reasons": reasons}
    assert rated.json() == {"message_id": reply["message"]["id"], **shown}
    question, answer = await messages_of(admin, reply["conversation_id"])
    assert answer["feedback"] == (None if rating == "none" else shown)
    elsewhere = f"/api/v1/agents/{agent['id']}/messages/{question['id']}/feedback"
    assert (await admin.post(elsewhere, {"rating": "positive"})).code == "message_not_found"
    assert (await admin.post(path, {"rating": "excellent"})).status == 422
    assert (await admin.post(path, {**given, "reasons": ["boring"]})).status == 422
    assert (await admin.post(path, {"rating": rating})).json()["reasons"] == []


async def test_a_silent_conversation_ends_by_itself_once(
    service: Service, admin: Api, agent: dict[str, Any], people: People, clock: ManualClock
) -> None:
    reply = await reply_to(admin, agent)
    clock.advance(31 * 60)
    await service.runner.drain()
    clock.advance(120)
    await service.runner.drain()
    (ended,) = await events(people, "agent.chat.completed")
    assert ended.data["reason"] == "idle_timeout"
    again = await people.super_admin()
    shown = (await again.get(f"{PATH}/{reply['conversation_id']}")).json()
    assert shown["status"] == "closed"


async def test_parallel_messages_to_one_conversation_are_all_kept(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    import asyncio

    first = await reply_to(admin, agent, "First")
    await asyncio.gather(
        *(
            reply_to(admin, agent, f"Message {number}", conversation_id=first["conversation_id"])
            for number in range(8)
        )
    )
    stored = await messages_of(admin, first["conversation_id"])
    assert len(stored) == 18
    assert sum(one["role"] == "assistant" for one in stored) == 9
    shown = (await admin.get(f"{PATH}/{first['conversation_id']}")).json()
    assert shown["message_count"] == 18


async def test_with_an_agent_go_the_texts_of_its_conversations(
    service: Service, admin: Api, agent: dict[str, Any], people: People
) -> None:
    other = await make_agent(admin, primary_model=agent["primary_model"])
    await reply_to(admin, agent, "Our secret")
    await reply_to(admin, other, "No secret")
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    await service.runner.drain()
    said = [one.data for one in await events(people, "agent.chat.message")]
    assert [one["content"] for one in said if one["agent_id"] == agent["id"]] == [None, None]
    assert "No secret" in [one["content"] for one in said]
