"""Calls that wait until people have agreed to them, with a model that does as it is scripted to."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.chat.job_kinds import ANSWER_TURN, AcceptedTurn
from retinue.chat.replies import after_approval, stream_control
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import hanging, refusing
from tests.chat.approving import LOOK_AT_GRAZ, Desk, Json, questions_of
from tests.chat.speaking import events_of, messages_of, path_of, stream, text_of
from tests.factories.agents import attach_tool
from tests.factories.happenings import events
from tests.factories.tools import change_tool, executions_of, make_tool


async def ask_about_graz(desk: Desk) -> tuple[Json, Json]:
    """Ask for the weather; return the reply and its one call, which waits for an approval."""
    desk.provider.says("Let me look.", LOOK_AT_GRAZ)
    reply = await desk.ask(message="How is the weather?")
    (called,) = reply["tool_calls"]
    return reply, called


async def ask_and_approve(desk: Desk) -> tuple[Json, Json]:
    """Ask for the weather in Graz and have it approved for Wien; return the call as asked and the reply."""
    reply, called = await ask_about_graz(desk)
    desk.provider.says("It rains in Wien.")
    answer = await desk.approve(called["approval_id"], comment="Fine", edited_input={"city": "Wien"})
    assert (answer.status, answer.json()["data"]["status"]) == (200, "approved"), answer
    assert not desk.remote.seen
    await desk.work()
    return called, await desk.last_message(reply)


async def test_a_call_that_needs_an_approval_is_not_made_yet(desk: Desk) -> None:
    reply, called = await ask_about_graz(desk)
    assert reply["finish_reason"] == "awaiting_approval"
    assert (called["status"], called["tool_id"], called["input"]) == (
        "awaiting_approval",
        desk.tool["id"],
        {"city": "Graz"},
    )
    assert not desk.remote.seen
    waiting = await desk.last_message(reply)
    assert (waiting["content"], waiting["status"]) == ("Let me look.", "incomplete")
    assert len(await events(desk.people, "agent.chat.message")) == 1


async def test_the_approval_tells_what_is_called_where_and_for_whom(desk: Desk) -> None:
    reply, called = await ask_about_graz(desk)
    asked = await desk.approval(called["approval_id"])
    assert asked["status"] == "pending"
    assert asked["payload"]["input"] == {"city": "Graz"}
    source = {
        "type": "tool",
        "agent_id": desk.agent["id"],
        "conversation_id": reply["conversation_id"],
        "tool_call_id": "call_1",
    }
    assert asked["source"].items() >= source.items()
    assert asked["requested_by"] == {"type": "user", "id": desk.admin.user.id}


async def test_an_approved_call_is_made_with_the_edited_input(desk: Desk) -> None:
    called, done = await ask_and_approve(desk)
    assert desk.remote.last.target == "/echo?city=Wien"
    (made,) = done["details"]["tool_calls"]
    assert (made["status"], made["input"], made["approval_id"]) == (
        "completed",
        {"city": "Wien"},
        called["approval_id"],
    )
    assert made["output"]["status_code"] == 200
    (execution,) = await executions_of(desk.admin, desk.tool)
    assert (execution["id"], execution["user_id"]) == (made["execution_id"], desk.admin.user.id)


async def test_the_model_goes_on_with_what_an_approved_call_gave(desk: Desk) -> None:
    await ask_and_approve(desk)
    told = desk.provider.last.json["messages"]
    assert [one["role"] for one in told][-2:] == ["assistant", "tool"]
    assert "Wien" in told[-1]["content"]
    assert told[-1]["content"].splitlines()[0] in told[0]["content"], "the system prompt names the mark"


async def test_the_turn_that_waited_becomes_one_message_and_one_log(desk: Desk) -> None:
    reply, called = await ask_about_graz(desk)
    desk.provider.says("It rains in Wien.")
    await desk.approve(called["approval_id"])
    await desk.work()
    done = await desk.last_message(reply)
    assert done["id"] == reply["message"]["id"]
    assert (done["content"], done["status"]) == ("Let me look.\n\nIt rains in Wien.", "completed")
    assert len(await messages_of(desk.admin, reply["conversation_id"])) == 2
    (log,) = (await desk.admin.get(f"/api/v1/agents/{desk.agent['id']}/logs")).json()["data"]
    assert (log["status"], log["assistant_message"]) == ("completed", done["content"])
    assert len(await events(desk.people, "agent.chat.message")) == 2
    assert await desk.paused() == []


async def test_a_rejected_call_is_not_made_and_the_model_reads_why(desk: Desk) -> None:
    desk.provider.says("", LOOK_AT_GRAZ)
    reply = await desk.ask()
    assert reply["message"]["content"] == ""
    desk.provider.says("I may not look.")
    await desk.reject(reply["tool_calls"][0]["approval_id"], comment="Too expensive")
    await desk.work()
    done = await desk.last_message(reply)
    assert (done["content"], done["status"]) == ("I may not look.", "completed")
    (denied,) = done["details"]["tool_calls"]
    assert (denied["status"], denied["output"]) == ("denied", "Too expensive")
    assert denied["error"] == {"code": "approval_denied", "message": "Too expensive"}
    assert "Too expensive" in desk.provider.last.json["messages"][-1]["content"]
    assert not desk.remote.seen


async def test_a_stream_asks_for_approval(desk: Desk) -> None:
    desk.provider.says("One moment.", LOOK_AT_GRAZ)
    heard = await stream(desk.admin, desk.agent)
    names = ["message_start", "content_delta", "tool_use", "approval_required", "message_stop"]
    assert [one.event for one in heard if one.event != "content_delta" or one is heard[1]] == names
    asked, stopped = heard[-2:]
    assert (asked.data["tool"], asked.data["input"]) == ("weather", {"city": "Graz"})
    assert stopped.data["finish_reason"] == "awaiting_approval"
    assert stopped.data["tool_calls"][0]["approval_id"] == asked.data["approval_id"]
    path = path_of(desk.agent, f"/stream/{stopped.data['message_id']}")
    again = events_of((await desk.admin.get(path)).body)
    assert [(one.event, one.id) for one in again] == [(one.event, one.id) for one in heard]


async def test_a_listener_of_the_stream_hears_the_rest_after_the_approval(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_control, "_POLL_SECONDS", 0.02)
    desk.provider.says("One moment.", LOOK_AT_GRAZ)
    asked, stopped = (await stream(desk.admin, desk.agent))[-2:]
    path = path_of(desk.agent, f"/stream/{stopped.data['message_id']}")
    listening = asyncio.create_task(desk.admin.get(path, headers={"Last-Event-ID": str(stopped.id)}))
    await asyncio.sleep(0.05)
    desk.provider.says("It rains.")
    assert (await desk.approve(asked.data["approval_id"])).status == 200
    await desk.work()
    rest = events_of((await asyncio.wait_for(listening, 10)).body)
    assert (rest[0].event, rest[-1].event) == ("tool_result", "message_stop")
    assert rest[0].id == stopped.id + 1
    assert text_of(rest) == "\n\nIt rains."
    assert rest[-1].data["finish_reason"] == "stop"

    whole = events_of((await desk.admin.get(path)).body)
    assert text_of(whole) == "One moment.\n\nIt rains."
    assert [one.event for one in whole].count("message_stop") == 1
    assert whole[-1].id == rest[-1].id


async def accept_with_two_questions(desk: Desk) -> tuple[Json, str, str]:
    """Start a job that waits for two approvals; return it and their ids."""
    free = await make_tool(desk.admin, desk.remote.url, name="Other")
    await attach_tool(desk.admin, desk.agent, free, requires_approval=True)
    desk.provider.says("", LOOK_AT_GRAZ, Call("other", "{}", "call_2"))
    accepted = await desk.accept()
    paused = await desk.job(accepted)
    assert paused["status"] == "awaiting_approval"
    first, second = questions_of(paused["result"]["tool_calls"])
    return accepted, first, second


async def test_a_job_waits_until_everything_is_decided(desk: Desk) -> None:
    accepted, first, second = await accept_with_two_questions(desk)
    async with desk.people.context(desk.admin.user.tenant_id) as ctx:
        ctx.defer(ANSWER_TURN, AcceptedTurn(accepted["job_id"]))
    await desk.work()
    assert len(desk.provider.requests) == 1
    await desk.approve(first)
    await desk.work()
    assert (await desk.job(accepted))["status"] == "awaiting_approval"
    assert not desk.remote.seen
    await desk.reject(second)
    assert (await desk.job(accepted))["status"] == "running"


async def test_a_job_may_pause_again(desk: Desk) -> None:
    accepted, first, second = await accept_with_two_questions(desk)
    desk.provider.says("Once more.", Call("weather", '{"city": "Linz"}', "call_1"))
    await desk.approve(first)
    await desk.reject(second)
    await desk.work()
    again = await desk.job(accepted)
    assert again["status"] == "awaiting_approval"
    assert [one["status"] for one in again["result"]["tool_calls"]] == [
        "completed",
        "denied",
        "awaiting_approval",
    ]
    desk.provider.says("Done.")
    await desk.approve(again["result"]["tool_calls"][2]["approval_id"])
    await desk.work()
    done = await desk.job(accepted)
    assert (done["status"], done["result"]["message"]["content"]) == ("completed", "Once more.\n\nDone.")
    assert [one["status"] for one in done["result"]["tool_calls"]] == ["completed", "denied", "completed"]
    assert len(await messages_of(desk.admin, accepted["conversation_id"])) == 2


async def test_stopping_a_turn_that_waits_cancels_its_approval(desk: Desk) -> None:
    admin, agent = desk.admin, desk.agent
    desk.provider.says("", LOOK_AT_GRAZ)
    stopped = await desk.ask()
    (await admin.post(path_of(agent, f"/{stopped['message']['id']}/stop"))).json()
    ended = await desk.last_message(stopped)
    assert ended["details"]["finish_reason"] == "cancelled"
    assert ended["details"]["tool_calls"][0]["status"] == "denied"
    approval_id = stopped["tool_calls"][0]["approval_id"]
    assert (await desk.approval(approval_id))["status"] == "cancelled"
    late = await desk.approve(approval_id)
    assert (late.status, late.code) == (409, "approval_already_resolved")
    assert not desk.remote.seen


async def test_cancelling_a_job_that_waits_cancels_its_approval(desk: Desk) -> None:
    admin, agent = desk.admin, desk.agent
    desk.provider.says("", LOOK_AT_GRAZ)
    accepted = await desk.accept()
    waiting = (await desk.job(accepted))["result"]["tool_calls"][0]["approval_id"]
    cancelled = await admin.post(path_of(agent, f"/jobs/{accepted['job_id']}/cancel"))
    assert cancelled.json()["status"] == "cancelled"
    assert (await desk.approval(waiting))["status"] == "cancelled"
    assert not desk.remote.seen


async def test_deleting_a_conversation_that_waits_cancels_its_approval(desk: Desk) -> None:
    desk.provider.says("", LOOK_AT_GRAZ)
    deleted = await desk.ask()
    assert (await desk.admin.delete(f"/api/v1/conversations/{deleted['conversation_id']}")).status == 204
    assert (await desk.approval(deleted["tool_calls"][0]["approval_id"]))["status"] == "cancelled"
    assert not desk.remote.seen


async def test_a_turn_that_waited_too_long_goes_on_without_its_call(desk: Desk, clock: ManualClock) -> None:
    desk.provider.says("", LOOK_AT_GRAZ)
    forgotten = await desk.ask()
    desk.provider.says("Nobody agreed.")
    await desk.let_time_pass(clock)
    done = await desk.last_message(forgotten, await desk.people.super_admin())
    assert done["content"] == "Nobody agreed."
    # Nobody has rejected it: it has expired, although `on_timeout` is `reject`.
    (expired,) = done["details"]["tool_calls"]
    assert (expired["status"], expired["error"]) == (
        "timeout",
        {"code": "timeout", "message": "Nobody decided in time."},
    )
    assert not desk.remote.seen


async def test_a_turn_whose_worker_stops_is_resumed_by_the_next_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(after_approval, "POLL_SECONDS", 0.02)
    admin, people, provider, remote = desk.admin, desk.people, desk.provider, desk.remote
    provider.says("", LOOK_AT_GRAZ)
    first = await desk.ask()
    await desk.approve(first["tool_calls"][0]["approval_id"])
    (paused,) = await desk.paused()
    provider.fails(hanging())
    alone = people.context(admin.user.tenant_id).detached()
    work = after_approval.resume_turn(alone, after_approval.TurnToContinue(paused.id))
    worker = asyncio.create_task(work)
    async with asyncio.timeout(10):
        while len(provider.requests) < 2:
            await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert (await desk.last_message(first))["status"] == "incomplete"
    provider.says("The second worker.")
    await desk.work()
    assert (await desk.last_message(first))["content"] == "The second worker."
    assert len(remote.seen) == 2
    assert len(await messages_of(admin, first["conversation_id"])) == 2


async def test_a_model_that_fails_after_the_approval_leaves_an_incomplete_reply(desk: Desk) -> None:
    provider = desk.provider
    provider.says("Look:", LOOK_AT_GRAZ)
    failing = await desk.ask()
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    await desk.approve(failing["tool_calls"][0]["approval_id"])
    await desk.work()
    failed = await desk.last_message(failing)
    assert (failed["content"], failed["status"]) == ("Look:", "incomplete")
    assert failed["details"]["error"]["code"] == "model_error"
    assert failed["details"]["tool_calls"][0]["status"] == "completed"


async def test_an_approved_call_of_a_deactivated_user_is_not_made(desk: Desk) -> None:
    admin, remote = desk.admin, desk.remote
    developer = await desk.people.signed_in(Role.agent_developer)
    desk.provider.says("", LOOK_AT_GRAZ)
    orphan = await desk.ask(developer)
    assert (await admin.post(f"/users/{developer.user.id}/deactivate")).status == 200
    assert (await desk.approve(orphan["tool_calls"][0]["approval_id"])).status == 200
    seen = len(remote.seen)
    await desk.work()
    assert len(remote.seen) == seen
    assert (await desk.last_message(orphan))["details"]["error"]["code"] == "forbidden"


async def test_an_approved_call_of_a_detached_tool_fails(desk: Desk) -> None:
    desk.provider.says("", LOOK_AT_GRAZ)
    toolless = await desk.ask()
    await desk.admin.delete(f"/v1/agents/{desk.agent['id']}/tools/{desk.tool['id']}")
    desk.provider.says("It is gone.")
    await desk.approve(toolless["tool_calls"][0]["approval_id"])
    await desk.work()
    done = await desk.last_message(toolless)
    assert done["content"] == "It is gone."
    assert done["details"]["tool_calls"][0]["error"]["code"] == "tool_not_found"


async def test_only_the_approvers_of_the_tool_decide_and_talk_goes_on_meanwhile(desk: Desk) -> None:
    boss = await desk.people.signed_in(Role.agent_user)
    developer = await desk.people.signed_in(Role.agent_developer)
    rule = {"approvers": {"user_ids": [boss.user.id]}}
    await change_tool(desk.admin, desk.tool, approval=rule)
    desk.provider.says("", LOOK_AT_GRAZ)
    reply = await desk.ask(developer)
    approval_id = reply["tool_calls"][0]["approval_id"]
    for person in (developer, desk.admin):
        refused = await desk.approve(approval_id, person)
        assert (refused.status, refused.details["reason"]) == (403, "not_an_approver")

    desk.provider.says("Meanwhile?")
    await desk.ask(developer, "Are you there?", conversation_id=reply["conversation_id"])
    assert "waits for someone's approval" in desk.provider.last.json["messages"][-2]["content"]
    desk.provider.says("It rains.")
    assert (await desk.approve(approval_id, boss)).status == 200
    await desk.work()
    said = [one["content"] for one in await messages_of(developer, reply["conversation_id"])]
    assert said == ["Hello", "It rains.", "Are you there?", "Meanwhile?"]


async def test_nobody_is_asked_about_input_that_cannot_be_run(desk: Desk) -> None:
    desk.provider.says("", Call("weather", "{}", "call_1"))
    desk.provider.says("Which city?")
    unusable = await desk.ask(await desk.people.signed_in(Role.agent_developer))
    assert unusable["tool_calls"][0]["error"]["code"] == "validation_error"
    assert unusable["finish_reason"] == "stop"


async def test_an_unknown_approver_of_a_tool_is_refused(desk: Desk) -> None:
    bad = await desk.admin.put(
        f"/v1/tools/{desk.tool['id']}", {"approval": {"approvers": {"user_ids": ["usr_x"]}}}
    )
    assert (bad.status, list(bad.details)) == (422, ["approval.approvers.user_ids"])
