"""The agents that people see who only chat."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import change_agent, make_agent, versions_of
from tests.factories.people import People
from tests.factories.providers import add_key_for

PATH = "/api/v1/chat/agents"
STARTERS = ["Which bulb fits?", "Where is my order, please?"]


async def chat_only(people: People, admin: Api) -> Api:
    """Somebody whose role may chat and read no agents."""
    granted = ["agents:chat", "conversations:read", "conversations:write"]
    answer = await admin.put(f"/roles/{Role.agent_user}/permissions", {"permissions": granted})
    assert answer.status == 200, answer
    return await people.signed_in(Role.agent_user)


async def test_who_may_only_chat_sees_published_agents_and_nothing_of_what_they_are_made_of(
    admin: Api, agent: dict[str, Any], people: People
) -> None:
    await change_agent(admin, agent, name="Lamp desk", starters=STARTERS)
    await make_agent(admin, name="Draft")
    await make_agent(admin, name="Another", status="published", description="Knows lamps.")
    reader = await chat_only(people, admin)
    assert (await reader.get("/api/v1/agents")).status == 403
    shown = (await reader.get(PATH)).json()
    assert [one["name"] for one in shown["data"]] == ["Another", "Lamp desk"]
    assert shown["data"][1] == {
        "id": agent["id"],
        "name": "Lamp desk",
        "description": agent["description"],
        "starters": STARTERS,
        "takes": shown["data"][0]["takes"],
    }
    found = (await reader.get(PATH, query={"search": "LAMP", "sort": "-name", "per_page": 1})).json()
    assert [one["name"] for one in found["data"]] == ["Lamp desk"]
    assert found["pagination"]["total"] == 2


async def test_who_may_not_chat_sees_no_agents_to_chat_with(people: People) -> None:
    refused = await (await people.signed_in(Role.viewer)).get(PATH)
    assert (refused.status, refused.details["required"]) == (403, "agents:chat")


@pytest.mark.parametrize("is_configured", [True, False])
async def test_an_agent_takes_what_its_model_and_the_instance_can_read(
    make_service: Any, provider: ProviderServer, *, is_configured: bool
) -> None:
    admin = await People(await make_service(stt_model="openai_compatible/whisper-1")).super_admin()
    heard = ["whisper-1"] if is_configured else []
    await add_key_for(admin, provider, models=["test-model", *heard])
    await make_agent(admin, status="published", primary_model="openai_compatible/test-model")
    await make_agent(admin, status="published", primary_model="local/demo", name="Tiny")
    shown = [one["takes"] for one in (await admin.get(PATH)).json()["data"]]
    recordings = ["audio"] if is_configured else []
    assert shown == [
        {"files": ["document", "image", *recordings], "voice": is_configured},
        {"files": ["document", *recordings], "voice": is_configured},
    ]


async def test_starters_are_a_setting_of_the_agent_in_each_version(admin: Api) -> None:
    made = await make_agent(admin, starters=STARTERS)
    assert made["starters"] == STARTERS
    assert (await change_agent(admin, made, starters=None))["starters"] == []
    (newest, oldest) = await versions_of(admin, made)
    path = f"/api/v1/agents/{made['id']}/versions"
    assert (await admin.get(f"{path}/{oldest['version']}")).json()["snapshot"]["starters"] == STARTERS
    assert (await admin.get(f"{path}/{newest['version']}")).json()["snapshot"]["starters"] == []
    for wrong in (["?"] * 5, [" "], ["x" * 201]):
        answer = await admin.post("/api/v1/agents", {**_body(), "starters": wrong})
        assert answer.status == 422, answer


def _body() -> dict[str, Any]:
    return {"name": "A", "primary_model": "openai/gpt-4o-mini", "system_prompt": "You answer."}
