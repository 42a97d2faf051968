"""Tools, sub-agents and their bounds, with a model that does as it is scripted to."""

from typing import Any

import msgspec
import pytest

from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import messages_of, reply_to, say, stream, text_of
from tests.client import Api
from tests.factories.agents import attach_agent, attach_tool, make_agent, make_direct_sub_agent
from tests.factories.tools import executions_of, make_tool
from tests.tools.servers.canary import canary
from tests.tools.servers.rest_api import RestApi

CALL = Call("weather", '{"city": "Graz"}', "call_1")


async def test_the_model_uses_a_tool_and_answers_with_what_it_gave(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    provider.says("Let me look.", CALL)
    provider.says("It rains in Graz.")
    reply = await reply_to(admin, agent, "How is the weather?")
    assert reply["message"]["content"] == "Let me look.\n\nIt rains in Graz."
    (called,) = reply["tool_calls"]
    assert called["tool"] == "weather"
    assert called["tool_id"] == weather["id"]
    assert called["status"] == "completed"
    assert called["input"] == {"city": "Graz"}
    assert called["output"]["status_code"] == 200
    assert remote.last.target == "/echo?city=Graz"
    (execution,) = await executions_of(admin, weather)
    assert (execution["id"], execution["agent_id"]) == (called["execution_id"], agent["id"])
    offered = provider.requests[0].json["tools"]
    assert [one["function"]["name"] for one in offered] == ["weather__get"]


async def test_a_stream_tells_of_the_tools(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("", CALL)
    provider.says("Rain.")
    heard = await stream(admin, agent)
    assert [one.event for one in heard] == [
        "message_start",
        "tool_use",
        "tool_result",
        "content_delta",
        "message_stop",
    ]
    assert heard[1].data == {"tool": "weather", "input": {"city": "Graz"}}
    assert heard[2].data["tool"] == "weather"
    assert heard[2].data["output"]["status_code"] == 200


async def test_tool_output_reaches_the_model_fenced_as_material(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("", CALL)
    provider.says("Rain.")
    await reply_to(admin, agent)
    system, *_, result = provider.last.json["messages"]
    assert result["role"] == "tool"
    first, *_, last = result["content"].splitlines()
    assert first.startswith("<material ")
    assert last == first.replace("<", "</")
    assert first in system["content"]


async def test_a_disabled_or_detached_tool_is_not_offered(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    await admin.patch(f"/v1/agents/{agent['id']}/tools/{weather['id']}", {"is_enabled": False})
    await reply_to(admin, agent)
    assert "tools" not in provider.last.json


async def test_arguments_that_are_no_json_are_told_to_the_model(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    provider.says(
        "", Call("weather", "{not json", "a"), Call("no_such_tool", "{}", "b"), Call("weather", "{}", "c")
    )
    provider.says("Sorry.")
    reply = await reply_to(admin, agent)
    assert [one["error"]["code"] for one in reply["tool_calls"]] == [
        "invalid_arguments",
        "tool_not_found",
        "validation_error",
    ]
    assert reply["message"]["content"] == "Sorry."
    assert not remote.seen


async def test_a_model_that_always_wants_tools_is_stopped(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    numbers = iter(range(10_000))
    provider.otherwise = lambda _: Reply(
        "", tuple(Call("weather", f'{{"city": "{next(numbers)}"}}') for _ in range(7))
    )
    reply = await reply_to(admin, agent)
    assert reply["finish_reason"] == "tool_limit"
    assert len(remote.seen) == 25
    assert provider.last.json["tool_choice"] == "none"
    assert len(provider.requests) <= 11


async def test_the_same_call_again_and_again_is_stopped(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    provider.otherwise = lambda _: Reply("", (CALL,))
    reply = await reply_to(admin, agent)
    assert reply["finish_reason"] == "tool_limit"
    assert len(remote.seen) == 2
    assert len(provider.requests) == 4
    after = await reply_to(admin, agent, conversation_id=reply["conversation_id"])
    assert after["conversation_id"] == reply["conversation_id"]


async def test_a_thousand_calls_at_once_are_bounded(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    provider.says("", *(Call("weather", f'{{"city": "{number}"}}') for number in range(1000)))
    provider.says("Enough.")
    reply = await reply_to(admin, agent)
    assert reply["message"]["content"] == "Enough."
    assert len(remote.seen) == 25
    assert len(reply["tool_calls"]) == 25


async def test_the_model_chooses_neither_host_nor_headers(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    tool = await make_tool(
        admin,
        remote.url,
        name="Open",
        config={"base_url": remote.url, "endpoints": {"get": {"method": "GET", "path": "/echo/{name}"}}},
    )
    await attach_tool(admin, agent, tool)
    async with canary() as evil:
        elsewhere = f"http://127.0.0.1:{evil.port}/"
        for arguments in (
            {"base_url": elsewhere, "path_params": {"name": "x"}},
            {"path_params": {"name": elsewhere}},
            {"path_params": {"name": f"//127.0.0.1:{evil.port}/x"}},
            {"url": elsewhere, "path_params": {"name": "x"}, "headers": {"Host": "evil", "X-Mine": "1"}},
        ):
            provider.says("", Call("open", msgspec.json.encode(arguments).decode()))
            provider.says("Done.")
            await reply_to(admin, agent)
        assert evil.connections == 0
    assert all("x-mine" not in {name.lower() for name in seen.headers} for seen in remote.seen)


@pytest.mark.parametrize("offers_headers", [False, True])
async def test_headers_are_the_models_only_where_the_tools_own_schema_offers_them(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi, *, offers_headers: bool
) -> None:
    properties = {"query": {"type": "object"}, **({"headers": {"type": "object"}} if offers_headers else {})}
    tool = await make_tool(
        admin, remote.url, name="Open", input_schema={"type": "object", "properties": properties}
    )
    await attach_tool(admin, agent, tool)
    provider.says("", Call("open", '{"query": {"city": "Graz"}, "headers": {"X-Mine": "1"}}'))
    provider.says("Done.")
    await reply_to(admin, agent)
    assert ("x-mine" in {name.lower() for name in remote.last.headers}) is offers_headers


async def test_a_task_is_handed_to_a_sub_agent_and_its_steps_are_told_on_request(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    helper = await make_agent(admin, name="Forecaster", primary_model=agent["primary_model"])
    await attach_tool(admin, helper, weather)
    await attach_agent(admin, agent, helper, delegation_prompt="Everything about weather.")
    for _ in range(2):
        provider.says("", Call("delegate_to_forecaster", '{"task": "Weather in Graz?"}', "d"))
        provider.says("", CALL)
        provider.says("It rains.")
        provider.says("My colleague says it rains.")
    plain = await stream(admin, agent)
    assert [one.data["tool"] for one in plain if one.event == "tool_use"] == ["delegate_to_forecaster"]
    answer = await admin.post(
        f"/api/v1/agents/{agent['id']}/chat/stream?include=sub_agents", {"message": "Again"}
    )
    assert answer.body.count(b"event: tool_use") == 2
    called = plain[-1].data["tool_calls"]
    assert [(one["tool"], one["sub_agent_id"]) for one in called] == [
        ("weather", helper["id"]),
        ("delegate_to_forecaster", helper["id"]),
    ]
    assert text_of(plain) == "My colleague says it rains."
    asked = provider.requests[1].json["messages"]
    assert asked[0]["content"].startswith(helper["system_prompt"])
    assert asked[1]["content"] == "Weather in Graz?"


async def test_agents_that_only_delegate_come_to_an_end(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    chain = [agent]
    for number in range(5):
        deeper = await make_agent(admin, name=f"Deeper {number}", primary_model=agent["primary_model"])
        await attach_agent(admin, chain[-1], deeper)
        chain.append(deeper)
    numbers = iter(range(10_000))

    def delegating(_heard: str) -> Reply:
        offered = provider.last.json.get("tools") or []
        return Reply(
            "Well.",
            tuple(Call(one["function"]["name"], f'{{"task": "task {next(numbers)}"}}') for one in offered),
        )

    provider.otherwise = delegating
    reply = await reply_to(admin, agent)
    assert reply["finish_reason"] == "tool_limit"
    assert len(provider.requests) <= 25 * 2 + 11


async def test_a_fallback_model_answers_when_the_first_does_not(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    backed = await make_agent(
        admin,
        primary_model="openai_compatible/unheard-of",
        fallback_models=["openai_compatible/spare-model"],
    )
    reply = await reply_to(admin, backed, "Hello")
    assert reply["model"] == "openai_compatible/spare-model"
    assert reply["warnings"] == ["model_fallback", "unpriced_model"]
    answer = await say(admin, await make_agent(admin, primary_model="openai_compatible/unheard-of"))
    assert answer.code == "model_not_configured"


async def test_a_direct_sub_agent_answers_like_any_other(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await make_direct_sub_agent(admin, agent, name="Poet", primary_model=agent["primary_model"])
    provider.says("", Call("delegate_to_poet", '{"task": "A rhyme", "context": "About rain"}'))
    provider.says("Rain, rain.")
    provider.says("There it is.")
    reply = await reply_to(admin, agent)
    assert reply["tool_calls"][0]["output"] == "Rain, rain."
    stored = await messages_of(admin, reply["conversation_id"])
    assert len(stored) == 2
