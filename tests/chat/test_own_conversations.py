"""Conversations as their owner keeps them: put away, and with a title."""

from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.approving import LOOK_AT_GRAZ, Desk
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.people import People

pytestmark = pytest.mark.either_database
PATH = "/api/v1/conversations"
QUESTION = "Which bulb fits the Opal globe in its three sizes?"


async def ids(api: Api, **query: Any) -> list[str]:
    return [one["id"] for one in (await api.get(PATH, query=query)).json()["data"]]


async def test_a_conversation_is_put_away_until_its_next_message(admin: Api, agent: dict[str, Any]) -> None:
    kept = (await reply_to(admin, agent))["conversation_id"]
    away = (await reply_to(admin, agent))["conversation_id"]
    changed = (await admin.patch(f"{PATH}/{away}", {"archived": True})).json()
    assert (changed["archived"], changed["title"]) == (True, "Hello")
    assert await ids(admin, archived="true") == [away]
    assert await ids(admin, archived="false") == [kept]
    assert set(await ids(admin)) == {kept, away}
    await reply_to(admin, agent, conversation_id=away)
    assert (await admin.get(f"{PATH}/{away}")).json()["archived"] is False
    for wrong in ({}, {"title": None}, {"archived": "yes"}):
        assert (await admin.patch(f"{PATH}/{away}", wrong)).status == 422


async def titled(service: Service, api: Api, conversation_id: str) -> str:
    answer = await api.post(f"{PATH}/{conversation_id}/title")
    assert answer.status == 202, answer
    await service.runner.drain()
    return (await api.get(f"{PATH}/{conversation_id}")).json()["title"]


async def test_the_agents_model_writes_a_title(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    talk = (await reply_to(admin, agent, QUESTION))["conversation_id"]
    assert (await admin.get(f"{PATH}/{talk}")).json()["title"] == QUESTION
    provider.says('"Bulbs for the Opal globe"\n')
    assert await titled(service, admin, talk) == "Bulbs for the Opal globe"
    assert QUESTION in provider.last.json["messages"][-1]["content"]
    usage = (await admin.get("/api/v1/usage")).json()
    assert usage["totals"]["chat_requests"] == 1


async def test_a_name_that_somebody_gave_stays(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    talk = (await reply_to(admin, agent, QUESTION))["conversation_id"]
    await admin.patch(f"{PATH}/{talk}", {"title": "Globes"})
    asked = len(provider.requests)
    assert await titled(service, admin, talk) == "Globes"
    assert len(provider.requests) == asked


async def test_without_an_answer_the_beginning_of_the_question_stays(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    talk = (await reply_to(admin, agent, QUESTION))["conversation_id"]
    provider.fails(refusing(400))
    assert await titled(service, admin, talk) == QUESTION


async def test_nobody_else_has_a_title_written(admin: Api, agent: dict[str, Any], people: People) -> None:
    talk = (await reply_to(admin, agent, QUESTION))["conversation_id"]
    answer = await (await people.signed_in()).post(f"{PATH}/{talk}/title")
    assert answer.code == "conversation_not_found"


async def test_a_list_holds_the_channels_that_are_named(
    admin: Api, agent: dict[str, Any], people: People
) -> None:
    asked = (await reply_to(admin, agent))["conversation_id"]
    tried = (await reply_to(admin, agent, version="draft"))["conversation_id"]
    assert await ids(admin, channels="console,audio") == [asked]
    assert await ids(admin, channels="playground") == [tried]
    assert await ids(admin, channels=" console , playground ", failed="false") == [tried, asked]
    for wrong in ("", "console,radio"):
        answer = await admin.get(PATH, query={"channels": wrong})
        assert (answer.status, list(answer.details)) == (422, ["channels"])
    assert await ids(await people.signed_in(), channels="console") == []


async def test_a_list_says_which_conversations_wait_for_an_approval(desk: Desk) -> None:
    desk.provider.says("Let me look.", LOOK_AT_GRAZ)
    desk.provider.says("Fine.")
    waiting = await desk.ask()
    answered = await desk.ask()
    listed = await desk.admin.get("/api/v1/conversations", query={"include": "waiting"})
    assert {one["id"]: one["waiting"] for one in listed.json()["data"]} == {
        waiting["conversation_id"]: True,
        answered["conversation_id"]: False,
    }
    await desk.approve(waiting["tool_calls"][0]["approval_id"])
    listed = await desk.admin.get("/api/v1/conversations", query={"include": "waiting"})
    assert not any(one["waiting"] for one in listed.json()["data"])
    assert "waiting" not in (await desk.admin.get("/api/v1/conversations")).json()["data"][0]
