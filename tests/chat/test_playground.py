"""Turns that try an agent out: with a version, the draft or another model, and with seed messages."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.approving import LOOK_AT_GRAZ, Desk
from tests.chat.speaking import logs_of, messages_of, path_of, reply_to, say, stream
from tests.client import Api
from tests.factories.agents import attach_tool, change_agent, make_agent
from tests.factories.people import People
from tests.factories.tools import change_tool, make_tool
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]


async def save_draft(api: Api, agent: Json, **snapshot: Any) -> None:
    answer = await api.put(f"/api/v1/agents/{agent['id']}/draft", {"snapshot": snapshot})
    assert answer.status == 200, answer


def prompt_of(provider: ProviderServer) -> str:
    return str(provider.last.json["messages"][0]["content"])


def offered_names(provider: ProviderServer) -> list[str]:
    return [one["function"]["name"] for one in provider.last.json.get("tools", ())]


async def statistics_of(api: Api, agent: Json) -> Json:
    return (await api.get(f"/api/v1/agents/{agent['id']}/stats")).json()


async def test_the_draft_answers_while_the_agent_stays_as_it_is(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer
) -> None:
    await save_draft(admin, agent, system_prompt="Drafted.", max_tokens=99, temperature=0.2, tools=[])
    reply = await reply_to(admin, agent, version="draft")
    assert prompt_of(provider) == "Drafted."
    assert (provider.last.json["max_tokens"], provider.last.json["temperature"]) == (99, 0.2)
    assert offered_names(provider) == []
    assert reply["version"] == 2
    await reply_to(admin, agent)
    assert prompt_of(provider).startswith(agent["system_prompt"])
    assert offered_names(provider) == ["weather__get"]


async def test_a_version_answers_with_its_prompt_model_and_tools(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer, remote: RestApi
) -> None:
    await change_agent(admin, agent, system_prompt="Newest.", primary_model="openai_compatible/spare-model")
    await admin.delete(f"/v1/agents/{agent['id']}/tools/{weather['id']}")
    provider.says("", Call("weather", '{"city": "Graz"}', "call_1"))
    provider.says("Rain.")
    reply = await reply_to(admin, agent, version=2)
    assert (reply["version"], reply["model"]) == (2, "openai_compatible/test-model")
    assert prompt_of(provider).startswith(agent["system_prompt"])
    assert remote.last.target == "/echo?city=Graz"
    assert [call["status"] for call in reply["tool_calls"]] == ["completed"]
    answer = await say(admin, agent, version=99)
    assert (answer.status, answer.code) == (404, "version_not_found")


async def test_another_model_answers_only_together_with_a_version(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    reply = await reply_to(admin, agent, version=1, model="openai_compatible/spare-model")
    assert (reply["model"], reply["warnings"]) == ("openai_compatible/spare-model", ["unpriced_model"])
    answer = await say(admin, agent, model="openai_compatible/spare-model")
    assert (answer.status, list(answer.details)) == (422, ["model"])
    answer = await say(admin, agent, version=1, model="openai_compatible/none-of-them")
    assert (answer.status, answer.code) == (422, "model_not_configured"), answer


async def test_sub_agents_and_web_search_are_those_of_the_draft(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    helper = await make_agent(admin, name="Helper", primary_model=agent["primary_model"])
    inner = {"name": "Inner", "primary_model": agent["primary_model"], "system_prompt": "I am inner."}
    await save_draft(
        admin,
        agent,
        web_search={"enabled": True},
        sub_agents=[{"id": helper["id"]}, {"relationship_type": "direct", "agent": inner}],
    )
    provider.says("", Call("delegate_to_inner", '{"task": "Count."}', "call_1"))
    provider.says("Three.")
    provider.says("It is three.")
    reply = await reply_to(admin, agent, version="draft")
    assert reply["message"]["content"] == "It is three."
    assert offered_names(provider) == ["delegate_to_helper", "delegate_to_inner", "web_search", "read_page"]
    told = [one.json["messages"][0]["content"] for one in provider.requests]
    assert any(text.startswith("I am inner.") for text in told)


async def test_statistics_leave_such_turns_out_and_usage_counts_them(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    reply = await reply_to(admin, agent, version="draft")
    (log,) = await logs_of(admin, agent)
    assert (log["channel"], log["status"]) == ("playground", "completed")
    conversation = (await admin.get(f"/api/v1/conversations/{reply['conversation_id']}")).json()
    assert conversation["channel"] == "playground"
    counted = await statistics_of(admin, agent)
    assert (counted["total_conversations"], counted["total_messages"], counted["total_tokens_used"]) == (
        0,
        0,
        0,
    )
    await reply_to(admin, agent)
    counted = await statistics_of(admin, agent)
    assert (counted["total_conversations"], counted["total_messages"]) == (1, 2)
    usage = (await admin.get("/api/v1/usage")).json()
    assert usage["totals"]["chat_requests"] == 2, usage


async def test_a_conversation_goes_on_in_the_playground_and_nowhere_else(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    first = await reply_to(admin, agent, "One", version="draft")
    await reply_to(admin, agent, "Two", version=1, conversation_id=first["conversation_id"])
    assert [one["content"] for one in provider.last.json["messages"][1:]] == ["One", "You said: One", "Two"]
    ordinary = await reply_to(admin, agent)
    answer = await say(admin, agent, version="draft", conversation_id=ordinary["conversation_id"])
    assert (answer.status, list(answer.details)) == (422, ["conversation_id"])


async def test_seed_messages_begin_the_conversation(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    seeds = [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}]
    reply = await reply_to(admin, agent, "Three", seed_messages=seeds)
    assert [one["content"] for one in provider.last.json["messages"][1:]] == ["One", "Two", "Three"]
    stored = await messages_of(admin, reply["conversation_id"])
    assert [one["content"] for one in stored] == ["One", "Two", "Three", "You said: Three"]
    heard = await stream(admin, agent, "Three", seed_messages=seeds, version="draft")
    assert len(await messages_of(admin, heard[0].data["conversation_id"])) == 4


async def test_a_repeated_request_begins_one_conversation(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    body = {"message": "Two", "seed_messages": [{"role": "user", "content": "One"}]}
    headers = {"idempotency-key": "once"}
    first, again = [await admin.post(path_of(agent), body, headers=headers) for _ in range(2)]
    assert first.json() == again.json()
    listed = (await admin.get("/api/v1/conversations")).json()["data"]
    assert [one["message_count"] for one in listed] == [3]


async def test_messages_of_another_conversation_are_copied_with_their_calls(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer, people: People
) -> None:
    provider.says("Let me look.", Call("weather", '{"city": "Graz"}', "call_1"))
    provider.says("Rain.")
    source = await reply_to(admin, agent, "How is it?")
    before = await messages_of(admin, source["conversation_id"])
    reply = await reply_to(
        admin, agent, "And now?", version="draft", from_conversation_id=source["conversation_id"]
    )
    roles = [one["role"] for one in provider.last.json["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert reply["conversation_id"] != source["conversation_id"]
    assert await messages_of(admin, source["conversation_id"]) == before
    stranger = await people.signed_in(Role.agent_user)
    answer = await say(stranger, agent, from_conversation_id=source["conversation_id"])
    assert (answer.status, answer.code) == (404, "conversation_not_found")
    other = await make_agent(admin, primary_model=agent["primary_model"])
    answer = await say(admin, other, from_conversation_id=source["conversation_id"])
    assert (answer.status, answer.code) == (404, "conversation_not_found")


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"seed_messages": [{"role": "system", "content": "x"}]}, "seed_messages.0.role"),
        ({"seed_messages": [{"role": "user", "content": "x"}] * 51}, "seed_messages"),
        ({"seed_messages": [{"role": "user", "content": "x" * 30_000}] * 7}, "seed_messages"),
        (
            {"seed_messages": [{"role": "user", "content": "x"}], "from_conversation_id": "conv_x"},
            "seed_messages",
        ),
        (
            {"seed_messages": [{"role": "user", "content": "x"}], "conversation_id": "conv_x"},
            "conversation_id",
        ),
        ({"version": 0}, "version"),
        ({"version": "newest"}, "version"),
        ({"as": "admin"}, "as"),
    ],
)
async def test_what_does_not_fit_together_is_refused(admin: Api, agent: Json, sent: Json, place: str) -> None:
    answer = await say(admin, agent, **sent)
    assert (answer.status, list(answer.details)) == (422, [place]), answer
    assert (await admin.get("/api/v1/conversations")).json()["data"] == []


async def test_who_may_only_chat_tries_the_current_version_and_no_other(
    admin: Api, agent: Json, people: People, provider: ProviderServer
) -> None:
    await change_agent(admin, agent, system_prompt="Newest.")
    user = await people.signed_in(Role.agent_user)
    assert (await say(user, agent, version=2)).status == 200
    assert (await say(user, agent, seed_messages=[{"role": "user", "content": "x"}])).status == 200
    for sent in ({"version": 1}, {"version": "draft"}, {"version": 2, "model": "m"}):
        answer = await say(user, agent, **sent)
        assert (answer.status, answer.code) == (403, "forbidden"), answer


async def test_a_visitor_is_not_told_of_tools(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer
) -> None:
    call = Call("weather", '{"city": "Graz"}', "call_1")
    provider.says("", call)
    provider.says("Rain.")
    reply = await reply_to(admin, agent, **{"as": "visitor"})
    assert (reply["tool_calls"], reply["warnings"]) == ([], [])
    provider.says("", call)
    provider.says("Rain.")
    heard = await stream(admin, agent, **{"as": "visitor"})
    assert {one.event for one in heard} == {"message_start", "content_delta", "message_stop"}
    assert [log["channel"] for log in await logs_of(admin, agent)] == ["playground", "playground"]


async def test_an_approved_call_goes_on_with_the_draft_it_was_asked_with(desk: Desk) -> None:
    admin, agent, provider = desk.admin, desk.agent, desk.provider
    await save_draft(admin, agent, system_prompt="Drafted.", max_tokens=77)
    provider.says("Let me look.", LOOK_AT_GRAZ)
    reply = await desk.ask(version="draft")
    assert reply["finish_reason"] == "awaiting_approval"
    await admin.delete(f"/api/v1/agents/{agent['id']}/draft")
    provider.says("Rain.")
    done = await desk.approve_all(reply)
    assert (done["content"], done["status"]) == ("Let me look.\n\nRain.", "completed")
    assert prompt_of(provider).startswith("Drafted.")
    assert provider.last.json["max_tokens"] == 77
    assert [log["channel"] for log in await logs_of(admin, agent)] == ["playground"]


async def test_a_draft_does_not_lift_the_approval_that_the_agent_needs(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer, remote: RestApi
) -> None:
    path = f"/v1/agents/{agent['id']}/tools/{weather['id']}"
    await admin.patch(path, {"requires_approval": True})
    await save_draft(admin, agent, tools=[{"tool_id": weather["id"], "requires_approval": False}])
    provider.says("", LOOK_AT_GRAZ)
    reply = await reply_to(admin, agent, version="draft")
    assert reply["finish_reason"] == "awaiting_approval"
    assert not remote.seen


async def test_a_draft_sends_no_secret_elsewhere(
    admin: Api, agent: Json, provider: ProviderServer, remote: RestApi, people: People
) -> None:
    bearer = {"auth_type": "bearer", "auth_config": {"token": "s3cret-token-value"}}
    tool = await make_tool(admin, "https://elsewhere.example", name="Guarded", **bearer)
    await attach_tool(admin, agent, tool)
    developer = await people.signed_in(Role.agent_developer)
    override = {"base_url": remote.url}
    await save_draft(developer, agent, tools=[{"tool_id": tool["id"], "config_override": override}])
    provider.says("", Call("guarded", "{}", "call_1"))
    provider.says("No.")
    reply = await reply_to(developer, agent, version="draft")
    (called,) = reply["tool_calls"]
    assert called["error"]["code"] == "destination_changed", called
    assert not remote.seen


async def test_tools_that_are_disabled_today_are_not_offered(
    admin: Api, agent: Json, weather: Json, provider: ProviderServer
) -> None:
    await change_tool(admin, weather, is_enabled=False)
    await reply_to(admin, agent, version=2)
    assert offered_names(provider) == []
