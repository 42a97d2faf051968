"""A sub-agent's call that needs an approval: the whole turn waits, and goes on inside the sub-agent."""

import asyncio

import pytest

from retinue.chat.replies import stream_control
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import refusing
from tests.chat.approving import LOOK_AT_GRAZ, Cast, Desk, Json, call_statuses, delegation, questions_of
from tests.chat.speaking import Heard, events_of, messages_of, path_of, text_of
from tests.factories.agents import change_agent
from tests.factories.tools import change_tool, executions_of, make_tool

EVERYTHING = {"include": "sub_agents"}
LOOK_AT_LINZ = Call("weather", '{"city": "Linz"}', "call_2")


async def ask_through_helper(desk: Desk, cast: Cast, helper: Json) -> tuple[Json, str]:
    """Ask what the helper needs an approval for; return the reply and the id of the approval."""
    cast.says(desk.agent, "I ask.", delegation(helper, "d1", "Weather in Graz?"))
    cast.says(helper, "Let me look.", LOOK_AT_GRAZ)
    reply = await desk.ask()
    (approval_id,) = questions_of(reply["tool_calls"])
    return reply, approval_id


async def ask_and_approve(desk: Desk, cast: Cast, helper: Json) -> tuple[Json, str]:
    """Ask through the helper and approve its call for Wien; return the finished message and the approval."""
    reply, approval_id = await ask_through_helper(desk, cast, helper)
    cast.says(helper, "It rains in Wien.")
    cast.says(desk.agent, "Helper says that it rains.")
    await desk.approve(approval_id, edited_input={"city": "Wien"})
    await desk.work()
    return await desk.last_message(reply), approval_id


async def test_the_turn_waits_for_what_its_sub_agent_asks(desk: Desk, cast: Cast, helper: Json) -> None:
    reply, _ = await ask_through_helper(desk, cast, helper)
    assert (reply["finish_reason"], reply["message"]["content"]) == ("awaiting_approval", "I ask.")
    assert call_statuses(reply["tool_calls"]) == [
        ("call_1", "awaiting_approval"),
        ("d1", "awaiting_approval"),
    ]
    assert [one["sub_agent_id"] for one in reply["tool_calls"]] == [helper["id"]] * 2
    assert not desk.remote.seen


async def test_the_approval_names_the_sub_agent_and_whom_it_works_for(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    reply, approval_id = await ask_through_helper(desk, cast, helper)
    asked = await desk.approval(approval_id)
    assert asked["title"] == "Helper: Weather"
    assert asked["description"].endswith(f"on behalf of the agent {desk.agent['name']}.")
    assert (asked["payload"]["tool"], asked["payload"]["input"]) == ("Weather", {"city": "Graz"})
    assert (asked["source"]["agent_id"], asked["source"]["tool_id"]) == (helper["id"], desk.tool["id"])
    assert asked["source"]["conversation_id"] == reply["conversation_id"]
    assert asked["requested_by"] == {"type": "user", "id": desk.admin.user.id}


async def test_the_sub_agent_goes_on_with_the_approved_call(desk: Desk, cast: Cast, helper: Json) -> None:
    await ask_and_approve(desk, cast, helper)
    assert [one.target for one in desk.remote.seen] == ["/echo?city=Wien"]
    assert "city=Wien" in cast.told(helper)
    assert "It rains in Wien." in cast.told(desk.agent)
    assert [len(cast.requests_of(one)) for one in (desk.agent, helper)] == [2, 2]
    (run,) = await executions_of(desk.admin, desk.tool)
    assert (run["agent_id"], run["user_id"]) == (helper["id"], desk.admin.user.id)
    assert await desk.paused() == []


async def test_the_reply_has_the_approved_call_and_the_delegation(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    done, approval_id = await ask_and_approve(desk, cast, helper)
    assert (done["content"], done["status"]) == ("I ask.\n\nHelper says that it rains.", "completed")
    made, delegated = done["details"]["tool_calls"]
    assert (made["status"], made["input"], made["approval_id"], made["sub_agent_id"]) == (
        "completed",
        {"city": "Wien"},
        approval_id,
        helper["id"],
    )
    assert (delegated["status"], delegated["output"]) == ("completed", "Let me look.\n\nIt rains in Wien.")
    (log,) = (await desk.admin.get(f"/api/v1/agents/{desk.agent['id']}/logs")).json()["data"]
    assert (log["status"], len(log["tool_calls"])) == ("completed", 2)


@pytest.mark.parametrize(
    ("on_timeout", "status", "told"),
    [
        ("approve", "completed", "city=Graz"),
        ("fail", "timeout", "Nobody decided"),
        ("reject", "timeout", "Nobody decided"),
        (None, "denied", "Too far"),
    ],
)
async def test_a_sub_agent_reads_what_was_decided(
    desk: Desk,
    cast: Cast,
    helper: Json,
    clock: ManualClock,
    on_timeout: str | None,
    status: str,
    told: str,
) -> None:
    """By a person, who rejects it, or by time."""
    if on_timeout is not None:
        await change_tool(desk.admin, desk.tool, approval={"on_timeout": on_timeout})
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    reply = await desk.ask()
    cast.says(helper, "That is all I know.")
    cast.says(desk.agent, "So be it.")
    if on_timeout is None:
        await desk.reject(*questions_of(reply["tool_calls"]), comment="Too far")
        await desk.work()
    else:
        await desk.let_time_pass(clock)
    done = await desk.last_message(reply, await desk.people.super_admin())
    assert (done["content"], done["status"]) == ("So be it.", "completed")
    assert call_statuses(done["details"]["tool_calls"]) == [("call_1", status), ("d1", "completed")]
    assert told in cast.told(helper)
    assert len(desk.remote.seen) == (status == "completed")


async def stream_until_question(desk: Desk, cast: Cast, helper: Json) -> tuple[list[Heard], str]:
    """Stream a turn until its sub-agent needs an approval; return what was heard and where it goes on."""
    cast.says(desk.agent, "One moment.", delegation(helper, "d1"))
    cast.says(helper, "Well.", LOOK_AT_GRAZ)
    path = path_of(desk.agent, "/stream")
    heard = events_of((await desk.admin.post(path, {"message": "Hello"}, query=EVERYTHING)).body)
    return heard, f"{path}/{heard[-1].data['message_id']}"


async def test_a_stream_waits_for_a_sub_agent(desk: Desk, cast: Cast, helper: Json) -> None:
    heard, path = await stream_until_question(desk, cast, helper)
    steps = [one for one in heard if one.event != "content_delta"]
    assert [(one.event, one.data.get("tool")) for one in steps] == [
        ("message_start", None),
        ("tool_use", f"delegate_to_{helper['name'].lower()}"),
        ("tool_use", "weather"),
        ("approval_required", "weather"),
        ("message_stop", None),
    ]
    assert text_of(heard) == "One moment."
    again = events_of((await desk.admin.get(path, query=EVERYTHING)).body)
    assert again == heard
    without = events_of((await desk.admin.get(path)).body)
    assert [one.event for one in without if one.event != "content_delta"] == [
        "message_start", "tool_use", "approval_required", "message_stop",
    ]  # fmt: skip


async def test_a_stream_goes_on_within_the_sub_agent_after_the_approval(
    desk: Desk, cast: Cast, helper: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_control, "_POLL_SECONDS", 0.02)
    heard, path = await stream_until_question(desk, cast, helper)
    asked, stopped = heard[-2:]
    since = {"Last-Event-ID": str(stopped.id)}
    listening = asyncio.create_task(desk.admin.get(path, headers=since, query=EVERYTHING))
    await asyncio.sleep(0.05)
    cast.says(helper, "It rains.")
    cast.says(desk.agent, "It does.")
    assert (await desk.approve(asked.data["approval_id"])).status == 200
    await desk.work()
    rest = events_of((await asyncio.wait_for(listening, 10)).body)
    assert [(one.event, one.data["tool"]) for one in rest[:2]] == [
        ("tool_result", "weather"),
        ("tool_result", f"delegate_to_{helper['name'].lower()}"),
    ]
    assert rest[1].data["output"] == "Well.\n\nIt rains."
    assert [one.id for one in rest] == list(range(stopped.id + 1, rest[-1].id + 1))
    assert (text_of(rest), rest[-1].data["finish_reason"]) == ("\n\nIt does.", "stop")
    whole = events_of((await desk.admin.get(path, query=EVERYTHING)).body)
    assert [one for one in whole if one.id > stopped.id] == rest
    assert [one.event for one in whole].count("message_stop") == 1


async def test_a_job_waits_for_a_sub_agent_that_asks_twice(desk: Desk, cast: Cast, helper: Json) -> None:
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "One.", LOOK_AT_GRAZ)
    accepted = await desk.accept()
    first = await desk.job(accepted)
    assert first["status"] == "awaiting_approval"
    cast.says(helper, "Two.", LOOK_AT_LINZ)
    await desk.approve_all(first["result"])
    second = await desk.job(accepted)
    assert second["status"] == "awaiting_approval"
    assert call_statuses(second["result"]["tool_calls"]) == [
        ("call_1", "completed"),
        ("call_2", "awaiting_approval"),
        ("d1", "awaiting_approval"),
    ]
    assert len(cast.requests_of(desk.agent)) == 1
    cast.says(helper, "Three.")
    cast.says(desk.agent, "Done.")
    await desk.approve_all(second["result"])
    done = await desk.job(accepted)
    assert (done["status"], done["result"]["message"]["content"]) == ("completed", "Done.")
    assert call_statuses(done["result"]["tool_calls"]) == [
        ("call_1", "completed"),
        ("call_2", "completed"),
        ("d1", "completed"),
    ]
    assert done["result"]["tool_calls"][-1]["output"] == "One.\n\nTwo.\n\nThree."
    assert [one.target for one in desk.remote.seen] == ["/echo?city=Graz", "/echo?city=Linz"]
    assert len(await messages_of(desk.admin, accepted["conversation_id"])) == 2


async def test_whoever_works_beside_a_sub_agent_that_waits_works_once(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    """Another sub-agent that waits, one that does not, and a call of the agent itself."""
    free = await make_tool(desk.admin, desk.remote.url, name="Free")
    quick = await cast.hire("Quick", tools=(free,))
    other = await cast.hire("Other", tools=(desk.tool,))
    own = Call("weather", '{"city": "Wels"}', "own")
    calls = (delegation(helper, "d1"), delegation(quick, "d2"), own, delegation(other, "d3"))
    cast.says(desk.agent, "", *calls)
    cast.says(helper, "", LOOK_AT_GRAZ)
    cast.says(quick, "", Call("free", "{}", "free"))
    cast.says(quick, "It is quick.")
    cast.says(other, "", LOOK_AT_LINZ)
    reply = await desk.ask()
    assert call_statuses(reply["tool_calls"]) == [
        ("free", "completed"),
        ("d2", "completed"),
        ("call_1", "awaiting_approval"),
        ("d1", "awaiting_approval"),
        ("own", "awaiting_approval"),
        ("call_2", "awaiting_approval"),
        ("d3", "awaiting_approval"),
    ]
    of_helper, of_agent, of_other = questions_of(reply["tool_calls"])
    agents = [(await desk.approval(one))["source"]["agent_id"] for one in (of_helper, of_agent, of_other)]
    assert agents == [helper["id"], desk.agent["id"], other["id"]]

    cast.says(helper, "Once more.", LOOK_AT_LINZ)
    cast.says(other, "I may not.")
    for approval_id in (of_helper, of_agent):
        await desk.approve(approval_id)
        await desk.work()
        assert len(desk.remote.seen) == 1
    await desk.reject(of_other)
    await desk.work()
    again = await desk.last_message(reply)
    calls_then = again["details"]["tool_calls"]
    assert call_statuses(calls_then) == [
        ("free", "completed"),
        ("d2", "completed"),
        ("own", "completed"),
        ("call_1", "completed"),
        ("call_2", "denied"),
        ("d3", "completed"),
        ("call_2", "awaiting_approval"),
        ("d1", "awaiting_approval"),
    ]
    cast.says(helper, "All seen.")
    cast.says(desk.agent, "Thanks.")
    done = await desk.approve_all({**reply, "tool_calls": calls_then})
    assert (done["content"], done["status"]) == ("Thanks.", "completed")
    assert {one["status"] for one in done["details"]["tool_calls"]} == {"completed", "denied"}
    seen = sorted(one.target for one in desk.remote.seen)
    assert seen == ["/echo", "/echo?city=Graz", "/echo?city=Linz", "/echo?city=Wels"]
    asked = [len(cast.requests_of(one)) for one in (desk.agent, helper, quick, other)]
    assert asked == [2, 3, 2, 2]
    results = [one for one in cast.requests_of(desk.agent)[-1]["messages"] if one["role"] == "tool"]
    assert sorted(one["tool_call_id"] for one in results) == ["d1", "d2", "d3", "own"]


async def test_a_sub_agent_of_a_sub_agent_asks(desk: Desk, cast: Cast) -> None:
    middle = await cast.hire("Middle")
    deep = await cast.hire("Deep", under=middle, tools=(desk.tool,))
    cast.says(desk.agent, "", delegation(middle, "d1"))
    cast.says(middle, "", delegation(deep, "d2"))
    cast.says(deep, "", LOOK_AT_GRAZ)
    reply = await desk.ask()
    assert [(one["id"], one["sub_agent_id"], one["approval_id"] is None) for one in reply["tool_calls"]] == [
        ("call_1", deep["id"], False),
        ("d2", deep["id"], True),
        ("d1", middle["id"], True),
    ]
    (approval_id,) = questions_of(reply["tool_calls"])
    assert (await desk.approval(approval_id))["source"]["agent_id"] == deep["id"]
    cast.says(deep, "It rains.")
    cast.says(middle, "Deep says rain.")
    cast.says(desk.agent, "Rain, they say.")
    done = await desk.approve_all(reply)
    assert (done["content"], done["status"]) == ("Rain, they say.", "completed")
    assert call_statuses(done["details"]["tool_calls"]) == [
        ("call_1", "completed"),
        ("d2", "completed"),
        ("d1", "completed"),
    ]
    assert len(desk.remote.seen) == 1
    assert "It rains." in cast.told(middle)
    assert "Deep says rain." in cast.told(desk.agent)


async def test_a_sub_agent_that_is_renamed_and_whose_model_fails_ends_its_call(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    renamed = await desk.ask()
    await change_agent(desk.admin, helper, name="Somebody Else")
    desk.provider.fails(refusing(400, {"error": {"message": "no"}}))
    cast.says(desk.agent, "It fell silent.")
    done = await desk.approve_all(renamed)
    assert (done["content"], done["status"]) == ("It fell silent.", "completed")
    assert call_statuses(done["details"]["tool_calls"]) == [("call_1", "completed"), ("d1", "failed")]
    assert done["details"]["tool_calls"][1]["error"]["code"] == "model_error"
    assert len(desk.remote.seen) == 1


async def test_a_sub_agent_that_is_switched_off_while_it_waits_calls_nothing(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    detached = await desk.ask()
    sub_agents = f"/api/v1/agents/{desk.agent['id']}/sub-agents/{helper['id']}"
    assert (await desk.admin.patch(sub_agents, {"is_enabled": False})).status == 200
    cast.says(desk.agent, "Nobody is there.")
    done = await desk.approve_all(detached)
    assert (done["content"], done["status"]) == ("Nobody is there.", "completed")
    assert call_statuses(done["details"]["tool_calls"]) == [("call_1", "failed"), ("d1", "failed")]
    assert [(one["error"]["code"], one["sub_agent_id"]) for one in done["details"]["tool_calls"]] == [
        ("agent_not_found", helper["id"])
    ] * 2
    assert not desk.remote.seen


async def test_stopping_a_reply_cancels_the_approval_of_its_sub_agent(
    desk: Desk, cast: Cast, helper: Json
) -> None:
    cast.says(desk.agent, "", delegation(helper, "d1"))
    cast.says(helper, "", LOOK_AT_GRAZ)
    stopped = await desk.ask()
    await desk.admin.post(path_of(desk.agent, f"/{stopped['message']['id']}/stop"))
    ended = await desk.last_message(stopped)
    assert call_statuses(ended["details"]["tool_calls"]) == [("call_1", "denied"), ("d1", "denied")]
    (approval_id,) = questions_of(stopped["tool_calls"])
    assert (await desk.approval(approval_id))["status"] == "cancelled"
