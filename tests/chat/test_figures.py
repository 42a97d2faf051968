"""Figures of agents: inside each row of the list, and percentiles in the statistics."""

from typing import Any

from retinue.agents.models import Agent
from retinue.chat.engine.parts import CallStatus, ModelSpending
from retinue.chat.models import ChatChannel, ChatLog, ChatTotals, Message, TurnStatus
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from tests.adapters.llm_server import ProviderServer
from tests.chat.listening import Listener
from tests.chat.speaking import path_of
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.conversations import some_talk
from tests.factories.people import People

PATH = "/api/v1/agents"
DAY_S = 86_400
Json = dict[str, Any]


def a_log(agent_id: str, **more: Any) -> ChatLog:
    chosen = {
        "conversation_id": "conv_1",
        "message_id": "msg_1",
        "channel": ChatChannel.console,
        "tool_calls": [],
        "model": "m",
        "response_time_ms": 100,
        "status": TurnStatus.completed,
        "correlation_id": "cor_1",
        **more,
    }
    return ChatLog(agent_id=agent_id, **chosen)


def make_spending(model: str, cost: float | None) -> ModelSpending:
    return ModelSpending(
        model=model,
        calls=2,
        prompt_tokens=10,
        completion_tokens=5,
        total_tokens=15,
        cached_tokens=4,
        cache_write_tokens=0,
        reasoning_tokens=0,
        estimated_cost_usd=cost,
    )


def make_call(tool: str, tool_id: str | None, status: CallStatus, ms: int) -> dict[str, Any]:
    return {"tool": tool, "tool_id": tool_id, "status": status.value, "execution_time_ms": ms, "input": {}}


async def rate_talk(ctx: Context, agent: Json, user_id: str, rating: int) -> None:
    """Have a conversation with the agent, and rate the reply."""
    record = await ctx.db.get(Agent, agent["id"])
    assert record is not None
    talk = await some_talk(ctx, record, user_id)
    reply = await ctx.db.get(Message, talk.reply.id)
    assert reply is not None
    await ctx.db.update(reply, rating=rating)


def breakdown_of(agent: Json) -> str:
    return f"{PATH}/{agent['id']}/stats/breakdown"


async def rows(api: Api, **query: Any) -> dict[str, Any]:
    answer = await api.get(PATH, query={"include": "stats", **query})
    assert answer.status == 200, answer
    return {row["id"]: row["stats"] for row in answer.json()["data"]}


async def fill_row(admin: Api, people: People, clock: ManualClock, busy: Json) -> Api:
    """Give an agent one log of eight days ago, and of today 21 logs and four ratings; sign in again."""
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.insert(a_log(busy["id"], response_time_ms=9_999))
    clock.advance(8 * DAY_S)
    admin = await people.super_admin()
    async with people.context(admin.user.tenant_id) as ctx:
        for number in range(1, 21):
            spent = {"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 4, "cost_usd": 0.01}
            timing = {"response_time_ms": number * 100, "first_token_ms": number * 10 if number % 2 else None}
            await ctx.db.insert(a_log(busy["id"], **spent, **timing))
        await ctx.db.insert(a_log(busy["id"], status=TurnStatus.failed, response_time_ms=50_000))
        for rating in (1, 1, -1, 0):
            await rate_talk(ctx, busy, admin.user.id, rating)
    return admin


async def test_each_row_has_the_figures_of_its_agent(admin: Api, people: People, clock: ManualClock) -> None:
    busy, idle = await make_agent(admin, name="Busy"), await make_agent(admin, name="Idle")
    admin = await fill_row(admin, people, clock, busy)
    stats = await rows(admin)
    assert stats[busy["id"]] == {
        "period": "7d",
        "chats": 21,
        "failed_chats": 1,
        "tokens": 220,
        "cached_tokens": 80,
        "estimated_cost_usd": 0.2,
        "p95_response_time_ms": 1900,
        "p95_first_token_ms": 190,
        "likes": 2,
        "dislikes": 1,
        "series": [0, 0, 0, 0, 0, 0, 21],
    }
    nothing = {"chats": 0, "likes": 0, "p95_response_time_ms": None, "p95_first_token_ms": None}
    assert stats[idle["id"]].items() >= {**nothing, "series": [0] * 7}.items()
    own = (await admin.get(f"{PATH}/{busy['id']}/stats", query={"period": "7d"})).json()
    assert (own["p95_response_time_ms"], own["p95_first_token_ms"], own["cached_tokens"]) == (1900, 190, 80)


async def test_the_figures_of_a_row_are_those_of_the_chosen_period(
    admin: Api, people: People, clock: ManualClock
) -> None:
    busy = await make_agent(admin, name="Busy")
    admin = await fill_row(admin, people, clock, busy)
    month = (await rows(admin, period="30d"))[busy["id"]]
    assert (month["chats"], len(month["series"]), sum(month["series"])) == (22, 30, 22)
    assert len((await rows(admin, period="24h"))[busy["id"]]["series"]) == 24


async def test_rows_have_figures_only_when_they_are_asked_for(admin: Api, agent: Json) -> None:
    assert list(await rows(admin)) == [agent["id"]]
    assert list(await rows(admin, primary_model="none")) == []
    assert "stats" not in (await admin.get(PATH)).json()["data"][0]
    assert (await admin.get(PATH, query={"include": "all"})).status == 422


async def fill_breakdown(admin: Api, people: People, clock: ManualClock, agent: Json) -> None:
    """Log 22 turns of today, two of them with models and tools, beside four that were purged and a rating."""
    priced, unpriced = make_spending("openai/a", 0.25), make_spending("own/b", None)
    calls = [
        make_call("look_up", "tool_1", CallStatus.completed, 30),
        make_call("look_up", "tool_1", CallStatus.timeout, 50),
        make_call("web_search", None, CallStatus.completed, 7),
    ]
    async with people.context(admin.user.tenant_id) as ctx:
        for number in range(1, 21):
            await ctx.db.insert(a_log(agent["id"], response_time_ms=number * 10))
        both = {"usage_by_model": [priced, unpriced], "cost_usd": 0.25, "prompt_tokens": 30}
        await ctx.db.insert(a_log(agent["id"], **both, status=TurnStatus.failed, tool_calls=calls))
        await ctx.db.insert(a_log(agent["id"], usage_by_model=[priced], channel=ChatChannel.playground))
        totals = {"agent_id": agent["id"], "turns": 4, "failed": 1, "tokens": 8, "cost_usd": 0.5}
        await ctx.db.insert(ChatTotals(day=clock.now()[:10], **totals))
        await rate_talk(ctx, agent, admin.user.id, -1)


async def test_the_breakdown_of_an_agent_without_turns_is_empty(admin: Api, agent: Json) -> None:
    empty = (await admin.get(breakdown_of(agent))).json()
    assert (empty["period"], empty["models"], empty["tools"], len(empty["series"])) == ("7d", [], [], 7)
    assert empty["p50_response_time_ms"] is None


async def test_a_breakdown_has_the_figures_of_each_day(
    admin: Api, agent: Json, people: People, clock: ManualClock
) -> None:
    await fill_breakdown(admin, people, clock, agent)
    found = (await admin.get(breakdown_of(agent))).json()
    assert found["series"][-1] == {
        "start": f"{clock.now()[:10]}T00:00:00.000000Z",
        "chats": 25,
        "failed_chats": 2,
        "tokens": 38,
        "estimated_cost_usd": 0.75,
        "p50_response_time_ms": 100,
        "p95_response_time_ms": 190,
        "likes": 0,
        "dislikes": 1,
    }
    assert sum(point["chats"] for point in found["series"][:-1]) == 0
    assert (found["p50_response_time_ms"], found["p95_response_time_ms"]) == (100, 190)
    assert (found["successful_messages"], found["failed_messages"], found["unpriced_calls"]) == (23, 2, 2)


async def test_a_breakdown_has_the_figures_of_each_hour(
    admin: Api, agent: Json, people: People, clock: ManualClock
) -> None:
    await fill_breakdown(admin, people, clock, agent)
    hours = (await admin.get(breakdown_of(agent), query={"period": "24h"})).json()
    assert [len(hours["series"]), hours["series"][-1]["chats"]] == [24, 21]
    assert (await admin.get(breakdown_of(agent), query={"period": "all_time"})).status == 422


async def test_a_breakdown_has_the_figures_of_each_model_and_tool(
    admin: Api, agent: Json, people: People, clock: ManualClock
) -> None:
    await fill_breakdown(admin, people, clock, agent)
    found = (await admin.get(breakdown_of(agent))).json()
    counts = {"calls": 2, "tokens": 15, "cached_tokens": 4}
    assert found["models"] == [
        {"model": "openai/a", **counts, "unpriced_calls": 0, "estimated_cost_usd": 0.25},
        {"model": "own/b", **counts, "unpriced_calls": 2, "estimated_cost_usd": None},
    ]
    assert found["tools"] == [
        {"tool": "look_up", "tool_id": "tool_1", "calls": 2, "failed_calls": 1, "avg_execution_time_ms": 40},
        {"tool": "web_search", "tool_id": None, "calls": 1, "failed_calls": 0, "avg_execution_time_ms": 7},
    ]


async def test_a_streamed_reply_notes_when_it_began(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    provider.says("Hello there.")
    listener = Listener(admin, path_of(agent, "/stream"), {"message": "Hi"})
    await listener.end()
    async with people.context() as ctx:
        (log,) = await ctx.system("test").all(ChatLog)
    assert log.first_token_ms is not None
    assert 0 <= log.first_token_ms <= log.response_time_ms
