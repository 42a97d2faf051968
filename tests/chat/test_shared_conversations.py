"""Conversations that others of the organization may read, and the copies with which they go on."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import messages_of, reply_to, say
from tests.client import Api, Response
from tests.factories.happenings import audits
from tests.factories.people import People

pytestmark = pytest.mark.either_database

Json = dict[str, Any]
PATH = "/api/v1/conversations"


@pytest.fixture
async def owner(people: People, agent: Json) -> Api:
    return await people.signed_in()


@pytest.fixture
async def reader(people: People) -> Api:
    return await people.signed_in()


@pytest.fixture
async def talk(owner: Api, agent: Json) -> str:
    """The id of a conversation of two turns."""
    reply = await reply_to(owner, agent, "One")
    await reply_to(owner, agent, "Two", conversation_id=reply["conversation_id"])
    return str(reply["conversation_id"])


async def share(owner: Api, talk: str, reader: Api | None = None, **more: Any) -> Json:
    named = {"audience": "people", "user_ids": [reader.user.id]} if reader else {"audience": "organization"}
    answer = await owner.put(f"{PATH}/{talk}/share", {**named, **more})
    assert answer.status == 200, answer
    return answer.json()


async def texts(api: Api, talk: str) -> list[str]:
    return [one["content"] for one in await messages_of(api, talk)]


async def listed(api: Api) -> list[str]:
    return [one["id"] for one in (await api.get(PATH, query={"shared_with": "me"})).json()["data"]]


async def read(api: Api, talk: str) -> Response:
    return await api.get(f"{PATH}/{talk}/messages")


async def test_named_people_read_up_to_a_message(owner: Api, reader: Api, talk: str, people: People) -> None:
    stored = await messages_of(owner, talk)
    shared = await share(owner, talk, reader, until_message_id=stored[1]["id"])
    assert shared["user_ids"] == [reader.user.id]
    assert (await owner.get(f"{PATH}/{talk}/share")).json() == shared
    assert await texts(reader, talk) == ["One", "You said: One"]
    assert (await reader.get(f"{PATH}/{talk}")).json()["shared"] is True
    assert await listed(reader) == [talk]
    assert await listed(owner) == []
    other = await people.signed_in()
    assert (await read(other, talk)).code == "conversation_not_found"
    assert await listed(other) == []


async def test_a_reader_cannot_name_a_message_after_the_end_of_the_share(
    owner: Api, reader: Api, talk: str
) -> None:
    stored = await messages_of(owner, talk)
    await share(owner, talk, reader, until_message_id=stored[1]["id"])
    path = f"{PATH}/{talk}/messages"
    assert (await reader.get(path, query={"leaf": stored[3]["id"]})).code == "message_not_found"
    assert len((await reader.get(path, query={"leaf": stored[0]["id"]})).json()["data"]) == 1


async def test_everyone_in_the_organization_reads_by_its_id(owner: Api, talk: str, people: People) -> None:
    await share(owner, talk)
    reader = await people.signed_in()
    assert len(await texts(reader, talk)) == 4
    assert await listed(reader) == []
    stranger = await people.signed_in(tenant=await people.tenant("Elsewhere"))
    assert (await read(stranger, talk)).code == "conversation_not_found"


async def test_a_reader_sees_nothing_of_tools_costs_and_ratings(
    owner: Api, reader: Api, agent: Json, weather: Json, provider: ProviderServer
) -> None:
    provider.says("", Call("weather__get", '{"city": "Graz"}', "call_1"))
    provider.says("Rain.")
    reply = await reply_to(owner, agent, "Weather?")
    rating = {"rating": "negative", "comment": "Private"}
    await owner.post(f"/api/v1/agents/{agent['id']}/messages/{reply['message']['id']}/feedback", rating)
    talk = reply["conversation_id"]
    await share(owner, talk, reader)
    shown = (await messages_of(reader, talk))[1]
    assert (shown["content"], shown["feedback"]) == ("Rain.", None)
    details = shown["details"]
    assert (details["tool_calls"], details["usage_by_model"], details["model"]) == ([], [], "")
    assert details["estimated_cost_usd"] is None
    assert "Graz" not in str(shown)


async def test_a_reader_does_not_write_and_goes_on_in_a_copy(
    owner: Api, reader: Api, agent: Json, talk: str, provider: ProviderServer
) -> None:
    await share(owner, talk, reader)
    path = f"{PATH}/{talk}"
    assert (await say(reader, agent, conversation_id=talk)).code == "conversation_not_found"
    for refused in (
        await reader.patch(path, {"title": "Mine"}),
        await reader.delete(path),
        await reader.put(f"{path}/share", {"audience": "organization"}),
        await reader.get(f"{path}/share"),
        await reader.get(f"{path}/export"),
    ):
        assert refused.code == "conversation_not_found"
    copied = await reader.post(f"{path}/continue", {})
    assert copied.status == 201, copied
    mine = copied.json()["id"]
    assert copied.json()["user_id"] == reader.user.id
    await reply_to(reader, agent, "Three", conversation_id=mine)
    told = [one["content"] for one in provider.last.json["messages"][1:]]
    assert told == ["One", "You said: One", "Two", "You said: Two", "Three"]
    assert len(await texts(owner, talk)) == 4


async def test_a_share_rests_while_its_owner_is_inactive(
    owner: Api, reader: Api, admin: Api, talk: str
) -> None:
    await share(owner, talk, reader)
    user = f"/users/{owner.user.id}"
    assert (await admin.post(f"{user}/deactivate")).status == 200
    assert (await read(reader, talk)).code == "conversation_not_found"
    assert await listed(reader) == []
    assert (await admin.post(f"{user}/reactivate")).status == 200
    assert len(await texts(reader, talk)) == 4


async def test_a_share_ends_once_it_is_deleted_and_both_are_audited(
    owner: Api, reader: Api, admin: Api, talk: str, people: People
) -> None:
    await share(owner, talk, reader)
    for _ in range(2):
        assert (await admin.delete(f"{PATH}/{talk}/share")).status == 204
    assert (await read(reader, talk)).code == "conversation_not_found"
    assert (await admin.get(f"{PATH}/{talk}/share")).code == "conversation_not_shared"
    [shared] = await audits(people, "agent.chat.shared")
    assert shared.metadata["user_ids"] == [reader.user.id]
    assert len(await audits(people, "agent.chat.unshared")) == 1


async def test_only_its_owner_shares_it_and_only_with_people_of_the_organization(
    owner: Api, reader: Api, admin: Api, talk: str, people: People
) -> None:
    path = f"{PATH}/{talk}/share"
    assert (await admin.put(path, {"audience": "organization"})).code == "conversation_not_found"
    stranger = await people.user(Role.agent_user, await people.tenant("Elsewhere"))
    for wrong in ({"user_ids": []}, {"user_ids": [stranger.id]}, {"user_ids": ["usr_none"]}):
        assert (await owner.put(path, {"audience": "people", **wrong})).status == 422
    unknown = {"audience": "organization", "until_message_id": "msg_none"}
    assert (await owner.put(path, unknown)).code == "message_not_found"
    await share(owner, talk)
    assert (await share(owner, talk, reader))["audience"] == "people"
    assert (await owner.get(f"{PATH}/{talk}")).json()["shared"] is True
