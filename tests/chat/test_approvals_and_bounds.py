"""Tests of turns that wait for approvals: budget and state are kept, and there is one reply."""

import asyncio

import msgspec
import pytest
import sqlalchemy as sa

from retinue.chat.engine import budget, loop
from retinue.chat.models import PausedTurn
from retinue.chat.replies import after_approval
from retinue.kit.db.statements import Statement
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import hanging
from tests.chat.approving import LOOK_AT_GRAZ, Cast, Desk, Json, call_statuses, delegation, questions_of
from tests.chat.speaking import messages_of
from tests.factories.tools import make_tool, run_tool
from tests.factories.workflows import execution, make_workflow, node, start

TOKENS = {"prompt_tokens": 150, "completion_tokens": 50, "total_tokens": 200}
_paused = PausedTurn.__table__
_SET_STATE = Statement(sa.update(_paused).values(state=sa.bindparam("state")))


def look_at(city: str, id: str) -> Call:
    return Call("weather", f'{{"city": "{city}"}}', id)


async def ask_again_and_again(desk: Desk, cast: Cast, helper: Json, *cities: str) -> list[Json]:
    """A sub-agent that wants to look at one city after the other; the reply whenever it stopped."""
    cast.says(desk.agent, "", delegation(helper, "d1"), usage=TOKENS)
    for number, city in enumerate(cities):
        cast.says(helper, "", look_at(city, f"call_{number}"), usage=TOKENS)
    cast.says(helper, "That is all.", usage=TOKENS)
    cast.says(desk.agent, "Done.", usage=TOKENS)
    reply = await desk.ask()
    stops = [reply["tool_calls"]]
    while questions_of(stops[-1]):
        done = await desk.approve_all({**reply, "tool_calls": stops[-1]})
        stops.append(done["details"]["tool_calls"])
    return [await desk.last_message(reply), *stops]


async def test_calls_are_counted_on_after_a_pause(
    desk: Desk, cast: Cast, helper: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_TOOL_CALLS", 3)
    done, *stops = await ask_again_and_again(desk, cast, helper, "Graz", "Linz", "Wels")
    assert len(stops) == 3
    assert [one.target for one in desk.remote.seen] == ["/echo?city=Graz", "/echo?city=Linz"]
    refused = done["details"]["tool_calls"][2]
    assert (refused["id"], refused["error"]["code"]) == ("call_2", "call_limit")
    assert cast.requests_of(helper)[-1]["tool_choice"] == "none"
    assert done["content"] == "Done."


async def test_the_same_call_is_not_made_again_and_again_however_often_it_is_approved(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    done, *stops = await ask_again_and_again(desk, cast, helper, "Graz", "Graz", "Graz")
    assert len(stops) == 3
    assert len(desk.remote.seen) == 2
    assert done["details"]["tool_calls"][2]["error"]["code"] == "call_limit"


async def test_a_budget_that_is_spent_stays_spent(desk: Desk) -> None:
    calls = (look_at("Graz", f"call_{number}") for number in range(3))
    desk.provider.says("", *calls)
    reply = await desk.ask()
    assert call_statuses(reply["tool_calls"]) == [
        ("call_2", "failed"),
        ("call_0", "awaiting_approval"),
        ("call_1", "awaiting_approval"),
    ]
    desk.provider.says("Enough.")
    done = await desk.approve_all(reply)
    assert (done["content"], done["details"]["finish_reason"]) == ("Enough.", "tool_limit")
    assert desk.provider.last.json["tool_choice"] == "none"


async def test_rounds_are_counted_on_after_a_pause(
    desk: Desk, cast: Cast, helper: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "MAX_ROUNDS", 2)
    done, *stops = await ask_again_and_again(desk, cast, helper, "Graz", "Linz")
    assert len(stops) == 3
    assert [one.get("tool_choice") for one in cast.requests_of(helper)] == [None, None, "none"]
    # The agent itself is in its second round, however often its sub-agent stopped.
    assert [one.get("tool_choice") for one in cast.requests_of(desk.agent)] == [None, None]
    assert done["content"] == "Done."


async def test_tokens_are_counted_on_after_a_pause(
    desk: Desk, cast: Cast, helper: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_TURN_TOKENS", 1000)
    done, *_ = await ask_again_and_again(desk, cast, helper, "Graz", "Linz")
    asked_for = [
        one.json.get("max_completion_tokens", one.json.get("max_tokens")) for one in desk.provider.requests
    ]
    assert asked_for == [1000, 800, 600, 400, 200]
    assert done["details"]["usage"]["total_tokens"] == 5 * TOKENS["total_tokens"]
    (log,) = (await desk.admin.get(f"/api/v1/agents/{desk.agent['id']}/logs")).json()["data"]
    assert log["usage"]["total_tokens"] == 5 * TOKENS["total_tokens"]


async def test_a_turn_that_was_stored_before_sub_agents_could_wait_goes_on(desk: Desk) -> None:
    desk.provider.says("", LOOK_AT_GRAZ)
    reply = await desk.ask()
    (paused,) = await desk.paused()
    state = msgspec.to_builtins(paused.state)
    assert (state.pop("delegated"), state.pop("is_spent")) == ((), False)
    async with desk.people.context(desk.admin.user.tenant_id) as ctx:
        await ctx.db.execute(_SET_STATE, state=state)
    desk.provider.says("It rains.")
    done = await desk.approve_all(reply)
    assert (done["content"], done["status"]) == ("It rains.", "completed")
    assert len(desk.remote.seen) == 1


async def test_a_worker_that_dies_leaves_a_waiting_sub_agent_to_the_next_one(
    desk: Desk, cast: Cast, helper: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_approval, "POLL_SECONDS", 0.02)
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    reply = await desk.ask()
    await desk.approve(*questions_of(reply["tool_calls"]))
    (paused,) = await desk.paused()
    desk.provider.fails(hanging())
    alone = desk.people.context(desk.admin.user.tenant_id).detached()
    work = after_approval.resume_turn(alone, after_approval.TurnToContinue(paused.id))
    worker = asyncio.create_task(work)
    async with asyncio.timeout(10):
        while len(desk.provider.requests) < 3:
            await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    waiting = await desk.last_message(reply)
    assert (waiting["status"], len(questions_of(waiting["details"]["tool_calls"]))) == ("incomplete", 1)
    assert [one.id for one in await desk.paused()] == [paused.id]
    cast.says(helper, "It rains.")
    cast.says(desk.agent, "The second worker.")
    await desk.work()
    done = await desk.last_message(reply)
    assert (done["content"], done["status"]) == ("The second worker.", "completed")
    assert call_statuses(done["details"]["tool_calls"]) == [("call_1", "completed"), ("d1", "completed")]
    assert len(await messages_of(desk.admin, reply["conversation_id"])) == 2
    again = after_approval.resume_turn(alone, after_approval.TurnToContinue(paused.id))
    await again
    assert len(desk.remote.seen) == 2


async def test_an_agent_behind_a_tool_waits_for_nobody_and_neither_do_those_below_it(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    tool = await make_tool(
        desk.admin, name="Asking", tool_type="custom", config={"kind": "agent", "agent_id": desk.agent["id"]}
    )
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    cast.says(helper, "I may not.")
    cast.says(desk.agent, "It may not.")
    done = await run_tool(desk.admin, tool, {"message": "Do it"})
    assert done["output"]["reply"] == "It may not.", done
    assert "cannot wait for an approval" in cast.told(helper)
    assert (await desk.admin.get("/api/v1/approvals")).json()["data"] == []
    assert desk.remote.seen == []


async def test_a_workflow_waits_for_what_a_sub_agent_of_its_agent_asks(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    flow = await make_workflow(desk.admin, node("ask", "agent", agent_id=desk.agent["id"], message="Do it"))
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    run = await start(desk.admin, flow)
    await desk.work()
    assert (await execution(desk.admin, flow, run))["status"] == "waiting"
    (pending,) = (await desk.admin.get("/api/v1/approvals")).json()["data"]
    assert pending["source"]["agent_id"] == helper["id"]
    cast.says(helper, "It rains.")
    cast.says(desk.agent, "Rain.")
    await desk.approve(pending["id"])
    await desk.work()
    done = await execution(desk.admin, flow, run)
    assert (done["status"], done["output"]["reply"]) == ("completed", "Rain.")
