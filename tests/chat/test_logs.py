import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.speaking import reply_to, say
from tests.client import Api
from tests.factories.agents import change_agent
from tests.factories.people import People

DAY_S = 86_400


def path_below(agent: dict[str, Any], rest: str) -> str:
    return f"/api/v1/agents/{agent['id']}/{rest}"


async def test_every_turn_is_logged_with_what_it_took(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Yes.")
    reply = await reply_to(admin, agent, "Really?")
    (log,) = (await admin.get(path_below(agent, "logs"))).json()["data"]
    assert log["user_message"] == "Really?"
    assert log["assistant_message"] == "Yes."
    assert log["usage"] == reply["usage"]
    assert log["message_id"] == reply["message"]["id"]
    assert (log["status"], log["channel"], log["model"]) == ("completed", "console", reply["model"])
    assert log["user_id"] == admin.user.id
    assert log["error"] is None


async def test_the_log_keeps_only_what_its_settings_allow(
    admin: Api, agent: dict[str, Any], weather: dict[str, Any], provider: ProviderServer
) -> None:
    from tests.adapters.llm_replies import Call

    assert (await admin.get(path_below(agent, "log-settings"))).json() == {
        "log_messages": True,
        "log_tool_calls": True,
        "log_token_usage": True,
        "retention_days": 30,
    }
    nothing = {"log_messages": False, "log_tool_calls": False, "log_token_usage": False}
    changed = await admin.put(path_below(agent, "log-settings"), nothing)
    assert changed.json() == {**nothing, "retention_days": 30}
    provider.says("", Call("weather", '{"city": "Graz"}'))
    provider.says("Rain.")
    await reply_to(admin, agent, "Secret question")
    (log,) = (await admin.get(path_below(agent, "logs"))).json()["data"]
    assert (log["user_message"], log["assistant_message"]) == (None, None)
    assert (log["tool_calls"], log["usage"]) == ([], None)
    both = [{"log_messages": True}, {"log_tool_calls": True}]
    await asyncio.gather(*(admin.put(path_below(agent, "log-settings"), one) for one in both))
    kept = (await admin.get(path_below(agent, "log-settings"))).json()
    assert (kept["log_messages"], kept["log_tool_calls"]) == (True, True)
    assert (await admin.put(path_below(agent, "log-settings"), {"retention_days": 3651})).status == 422
    assert (await admin.put(path_below(agent, "log-settings"), {"retention_days": -1})).status == 422


async def test_logs_are_filtered(admin: Api, agent: dict[str, Any], provider: ProviderServer) -> None:
    first = await reply_to(admin, agent, "apples")
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    await say(admin, agent, "pears")

    async def found(**query: Any) -> list[str]:
        answer = await admin.get(path_below(agent, "logs"), query=query)
        assert answer.status == 200, answer
        return [one["user_message"] for one in answer.json()["data"]]

    assert await found() == ["pears", "apples"]
    assert await found(status="failed") == ["pears"]
    assert await found(search="APPLE") == ["apples"]
    assert await found(conversation_id=first["conversation_id"]) == ["apples"]
    assert await found(channel="public") == []
    assert await found(**{"from": "2040-01-01T00:00:00Z"}) == []
    assert await found(to="2040-01-01T00:00:00Z") == ["pears", "apples"]
    assert (await admin.get(path_below(agent, "logs"), query={"from": "yesterday"})).status == 422


async def answer_twice_and_fail_once(admin: Api, agent: dict[str, Any], provider: ProviderServer) -> None:
    """Answer two turns of one conversation, the first of them liked, and fail one of another."""
    reply = await reply_to(admin, agent)
    await reply_to(admin, agent, conversation_id=reply["conversation_id"])
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    await say(admin, agent)
    path = f"messages/{reply['message']['id']}/feedback"
    await admin.post(path_below(agent, path), {"rating": "positive"})


async def stats_of(api: Api, agent: dict[str, Any], **query: str) -> dict[str, Any]:
    answer = await api.get(path_below(agent, "stats"), query=query)
    assert answer.status == 200, answer
    return answer.json()


async def test_statistics_add_the_turns_up(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await answer_twice_and_fail_once(admin, agent, provider)
    stats = await stats_of(admin, agent)
    assert stats["period"] == "all_time"
    assert (stats["total_conversations"], stats["total_messages"]) == (2, 5)
    assert (stats["successful_messages"], stats["failed_messages"]) == (2, 1)
    assert stats["positive_feedback"] == 1
    assert stats["total_tokens_used"] > 0
    assert (await stats_of(admin, agent, period="24h"))["total_messages"] == 5
    assert (await admin.get(path_below(agent, "stats"), query={"period": "5d"})).status == 422


async def test_statistics_outlive_the_log(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    clock: ManualClock,
    people: People,
) -> None:
    await answer_twice_and_fail_once(admin, agent, provider)
    before = await stats_of(admin, agent)
    await service.runner.drain()
    clock.advance(31 * DAY_S)
    await service.runner.drain()
    admin = await people.super_admin()
    assert (await admin.get(path_below(agent, "logs"))).json()["data"] == []
    # Percentiles and cached tokens come from the logs themselves.
    of_logs = ("p50_response_time_ms", "p50_first_token_ms", "p95_response_time_ms", "p95_first_token_ms")
    kept = before | dict.fromkeys(of_logs) | {"cached_tokens": 0}
    assert await stats_of(admin, agent) == kept
    assert (await stats_of(admin, agent, period="7d"))["total_messages"] == 0


async def test_the_log_is_kept_for_ever_if_wanted(
    service: Service, admin: Api, agent: dict[str, Any], clock: ManualClock, people: People
) -> None:
    await admin.put(path_below(agent, "log-settings"), {"retention_days": 0})
    await reply_to(admin, agent)
    await service.runner.drain()
    clock.advance(400 * DAY_S)
    await service.runner.drain()
    admin = await people.super_admin()
    assert len((await admin.get(path_below(agent, "logs"))).json()["data"]) == 1


async def test_the_status_tells_whether_the_agent_can_be_talked_to(
    admin: Api, agent: dict[str, Any], clock: ManualClock, people: People
) -> None:
    await reply_to(admin, agent)
    status = (await admin.get(path_below(agent, "status"))).json()
    assert status["agent_id"] == agent["id"]
    assert (status["status"], status["is_online"], status["active_conversations"]) == ("published", True, 1)
    assert status["training"]["status"] == "idle"
    await change_agent(admin, agent, primary_model="openai_compatible/unheard-of")
    assert (await admin.get(path_below(agent, "status"))).json()["is_online"] is False
    await change_agent(admin, agent, fallback_models=["openai_compatible/spare-model"])
    assert (await admin.get(path_below(agent, "status"))).json()["is_online"] is True
    await change_agent(admin, agent, status="draft", primary_model="openai_compatible/test-model")
    assert (await admin.get(path_below(agent, "status"))).json()["is_online"] is False
    clock.advance(31 * 60)
    admin = await people.super_admin()
    assert (await admin.get(path_below(agent, "status"))).json()["active_conversations"] == 0


@pytest.mark.parametrize("way", ["", "/stream", "/async"])
async def test_an_archived_agent_answers_nobody(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, way: str
) -> None:
    await change_agent(admin, agent, status="archived")
    answer = await admin.post(path_below(agent, f"chat{way}"), {"message": "Hello"})
    assert (answer.status, answer.code) == (409, "agent_archived")
    assert not provider.requests
