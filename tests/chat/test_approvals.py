"""Calls that wait until people have agreed to them, with a model that does as it is scripted to."""

import asyncio
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.approvals.jobs import expire_approvals
from retinue.chat import background, continuing, resuming
from retinue.chat.models import PausedTurn
from retinue.kit.clock import HeldClock
from retinue.kit.jobs.declare import NoPayload
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, hanging, refusing
from tests.chat.speaking import events_of, messages_of, path_of, reply_to, stream, text_of
from tests.client import Api, Response
from tests.factories.agents import attach_agent, attach_tool, make_agent
from tests.factories.happenings import events
from tests.factories.people import People
from tests.factories.tools import change_tool, executions_of, make_tool
from tests.tools.servers.rest_api import RestApi

CALL = Call("weather", '{"city": "Graz"}', "call_1")


@pytest.fixture
async def guarded(admin: Api, weather: dict[str, Any]) -> dict[str, Any]:
    """The tool of the agent, which nobody may call without approval."""
    rule = {"editable_fields": ["city"]}
    return await change_tool(admin, weather, requires_approval=True, approval=rule)


async def approve(api: Api, approval_id: str, **body: Any) -> Response:
    return await api.post(f"/api/v1/approvals/{approval_id}/approve", body)


async def reject(api: Api, approval_id: str, **body: Any) -> Response:
    return await api.post(f"/api/v1/approvals/{approval_id}/reject", body)


async def approval_of(api: Api, approval_id: str) -> dict[str, Any]:
    answer = await api.get(f"/api/v1/approvals/{approval_id}")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def last_message(api: Api, reply: dict[str, Any]) -> dict[str, Any]:
    return (await messages_of(api, reply["conversation_id"]))[-1]


async def test_an_approved_call_is_made_and_the_model_goes_on_with_what_it_gave(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
) -> None:
    provider.says("Let me look.", CALL)
    reply = await reply_to(admin, agent, "How is the weather?")
    assert reply["finish_reason"] == "awaiting_approval"
    (called,) = reply["tool_calls"]
    assert (called["status"], called["tool_id"], called["input"]) == (
        "awaiting_approval",
        guarded["id"],
        {"city": "Graz"},
    )
    assert not remote.seen
    asked = await approval_of(admin, called["approval_id"])
    assert asked["status"] == "pending"
    assert asked["payload"]["input"] == {"city": "Graz"}
    assert asked["source"]["type"] == "tool"
    assert asked["source"]["agent_id"] == agent["id"]
    assert asked["source"]["conversation_id"] == reply["conversation_id"]
    assert asked["source"]["tool_call_id"] == "call_1"
    assert asked["requested_by"] == {"type": "user", "id": admin.user.id}
    waiting = await last_message(admin, reply)
    assert (waiting["content"], waiting["status"]) == ("Let me look.", "incomplete")
    assert len(await events(people, "agent.chat.message")) == 1

    provider.says("It rains in Wien.")
    answer = await approve(admin, asked["id"], comment="Fine", edited_input={"city": "Wien"})
    assert (answer.status, answer.json()["data"]["status"]) == (200, "approved"), answer
    assert not remote.seen
    await service.runner.drain()
    assert remote.last.target == "/echo?city=Wien"
    done = await last_message(admin, reply)
    assert done["id"] == reply["message"]["id"]
    assert (done["content"], done["status"]) == ("Let me look.\n\nIt rains in Wien.", "completed")
    (made,) = done["details"]["tool_calls"]
    assert (made["status"], made["input"], made["approval_id"]) == (
        "completed",
        {"city": "Wien"},
        asked["id"],
    )
    assert made["output"]["status_code"] == 200
    (execution,) = await executions_of(admin, guarded)
    assert (execution["id"], execution["user_id"]) == (made["execution_id"], admin.user.id)
    told = provider.last.json["messages"]
    assert [one["role"] for one in told][-2:] == ["assistant", "tool"]
    assert "Wien" in told[-1]["content"]
    system = told[0]["content"]
    assert told[-1]["content"].splitlines()[0] in system
    assert len(await messages_of(admin, reply["conversation_id"])) == 2
    (log,) = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert (log["status"], log["assistant_message"]) == ("completed", done["content"])
    assert len(await events(people, "agent.chat.message")) == 2
    async with people.context(admin.user.tenant_id) as ctx:
        assert await ctx.db.all(PausedTurn) == []


async def test_a_rejected_call_is_not_made_and_the_model_reads_why(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
) -> None:
    provider.says("", CALL)
    reply = await reply_to(admin, agent)
    assert reply["message"]["content"] == ""
    provider.says("I may not look.")
    await reject(admin, reply["tool_calls"][0]["approval_id"], comment="Too expensive")
    await service.runner.drain()
    done = await last_message(admin, reply)
    assert (done["content"], done["status"]) == ("I may not look.", "completed")
    (denied,) = done["details"]["tool_calls"]
    assert (denied["status"], denied["output"]) == ("denied", "Too expensive")
    assert denied["error"] == {"code": "approval_denied", "message": "Too expensive"}
    assert "Too expensive" in provider.last.json["messages"][-1]["content"]
    assert not remote.seen


async def test_a_stream_asks_for_approval_and_is_gone_on_with_after_it(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resuming, "_LOOK_EVERY_S", 0.02)
    provider.says("One moment.", CALL)
    heard = await stream(admin, agent)
    names = ["message_start", "content_delta", "tool_use", "approval_required", "message_stop"]
    assert [one.event for one in heard if one.event != "content_delta" or one is heard[1]] == names
    asked, stopped = heard[-2:]
    assert asked.data["tool"] == "weather"
    assert asked.data["input"] == {"city": "Graz"}
    assert stopped.data["finish_reason"] == "awaiting_approval"
    assert stopped.data["tool_calls"][0]["approval_id"] == asked.data["approval_id"]

    path = path_of(agent, f"/stream/{stopped.data['message_id']}")
    again = events_of((await admin.get(path)).body)
    assert [(one.event, one.id) for one in again] == [(one.event, one.id) for one in heard]

    listening = asyncio.create_task(admin.get(path, headers={"Last-Event-ID": str(stopped.id)}))
    await asyncio.sleep(0.05)
    provider.says("It rains.")
    assert (await approve(admin, asked.data["approval_id"])).status == 200
    await service.runner.drain()
    rest = events_of((await asyncio.wait_for(listening, 10)).body)
    assert rest[0].event == "tool_result"
    assert rest[-1].event == "message_stop"
    assert rest[0].id == stopped.id + 1
    assert text_of(rest) == "\n\nIt rains."
    assert rest[-1].data["finish_reason"] == "stop"

    whole = events_of((await admin.get(path)).body)
    assert text_of(whole) == "One moment.\n\nIt rains."
    assert [one.event for one in whole].count("message_stop") == 1
    assert whole[-1].id == rest[-1].id


async def test_a_job_waits_and_goes_on_and_may_pause_again(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
) -> None:
    free = await make_tool(admin, remote.url, name="Other")
    await attach_tool(admin, agent, free, requires_approval=True)
    provider.says("", CALL, Call("other", "{}", "call_2"))
    accepted = (await admin.post(path_of(agent, "/async"), {"message": "Do it"})).json()
    job = path_of(agent, f"/jobs/{accepted['job_id']}")
    await service.runner.drain()
    paused = (await admin.get(job)).json()
    assert paused["status"] == "awaiting_approval"
    first, second = (one["approval_id"] for one in paused["result"]["tool_calls"])
    async with People(service).context(admin.user.tenant_id) as ctx:
        ctx.defer(background.answer_accepted_turn, background.AcceptedTurn(accepted["job_id"]))
    await service.runner.drain()
    assert len(provider.requests) == 1

    await approve(admin, first)
    await service.runner.drain()
    assert (await admin.get(job)).json()["status"] == "awaiting_approval"
    assert not remote.seen
    provider.says("Once more.", Call("weather", '{"city": "Linz"}', "call_1"))
    await reject(admin, second)
    assert (await admin.get(job)).json()["status"] == "running"
    await service.runner.drain()
    again = (await admin.get(job)).json()
    assert again["status"] == "awaiting_approval"
    assert [one["status"] for one in again["result"]["tool_calls"]] == [
        "completed",
        "denied",
        "awaiting_approval",
    ]
    provider.says("Done.")
    await approve(admin, again["result"]["tool_calls"][2]["approval_id"])
    await service.runner.drain()
    done = (await admin.get(job)).json()
    assert (done["status"], done["result"]["message"]["content"]) == ("completed", "Once more.\n\nDone.")
    assert [one["status"] for one in done["result"]["tool_calls"]] == ["completed", "denied", "completed"]
    assert len(await messages_of(admin, accepted["conversation_id"])) == 2


async def test_what_ends_a_turn_that_waits(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    clock: HeldClock,
    remote: RestApi,
) -> None:
    """Stopping it, cancelling its job, deleting its conversation, and time."""
    provider.says("", CALL)
    stopped = await reply_to(admin, agent)
    (await admin.post(path_of(agent, f"/{stopped['message']['id']}/stop"))).json()
    ended = await last_message(admin, stopped)
    assert ended["details"]["finish_reason"] == "cancelled"
    assert ended["details"]["tool_calls"][0]["status"] == "denied"
    approval_id = stopped["tool_calls"][0]["approval_id"]
    assert (await approval_of(admin, approval_id))["status"] == "cancelled"
    late = await approve(admin, approval_id)
    assert (late.status, late.code) == (409, "approval_already_resolved")

    provider.says("", CALL)
    accepted = (await admin.post(path_of(agent, "/async"), {"message": "Do it"})).json()
    await service.runner.drain()
    job = path_of(agent, f"/jobs/{accepted['job_id']}")
    waiting = (await admin.get(job)).json()["result"]["tool_calls"][0]["approval_id"]
    assert (await admin.post(f"{job}/cancel")).json()["status"] == "cancelled"
    assert (await approval_of(admin, waiting))["status"] == "cancelled"

    provider.says("", CALL)
    deleted = await reply_to(admin, agent)
    assert (await admin.delete(f"/api/v1/conversations/{deleted['conversation_id']}")).status == 204
    assert (await approval_of(admin, deleted["tool_calls"][0]["approval_id"]))["status"] == "cancelled"

    provider.says("", CALL)
    forgotten = await reply_to(admin, agent)
    clock.advance(72 * 3600 + 60)
    provider.says("Nobody agreed.")
    async with people.context() as ctx:
        await expire_approvals.run(ctx, NoPayload())
    await service.runner.drain()
    done = await last_message(await people.super_admin(), forgotten)
    assert done["content"] == "Nobody agreed."
    assert done["details"]["tool_calls"][0]["status"] == "denied"
    assert not remote.seen


async def test_what_keeps_a_turn_from_going_on(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that stops, a model that fails, a tool that is gone, and an asker who is."""
    monkeypatch.setattr(continuing, "LOOK_EVERY_S", 0.02)
    provider.says("", CALL)
    first = await reply_to(admin, agent)
    await approve(admin, first["tool_calls"][0]["approval_id"])
    async with people.context(admin.user.tenant_id) as ctx:
        (paused,) = await ctx.db.all(PausedTurn)
    provider.fails(hanging())
    alone = people.context(admin.user.tenant_id).apart()
    work = continuing.continue_turn.run(alone, continuing.TurnToContinue(paused.id))
    worker = asyncio.create_task(work)
    async with asyncio.timeout(10):
        while len(provider.requests) < 2:
            await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert (await last_message(admin, first))["status"] == "incomplete"
    provider.says("The second worker.")
    await service.runner.drain()
    assert (await last_message(admin, first))["content"] == "The second worker."
    assert len(remote.seen) == 2
    assert len(await messages_of(admin, first["conversation_id"])) == 2

    provider.says("Look:", CALL)
    failing = await reply_to(admin, agent)
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    await approve(admin, failing["tool_calls"][0]["approval_id"])
    await service.runner.drain()
    failed = await last_message(admin, failing)
    assert (failed["content"], failed["status"]) == ("Look:", "incomplete")
    assert failed["details"]["error"]["code"] == "model_error"
    assert failed["details"]["tool_calls"][0]["status"] == "completed"

    developer = await people.signed_in(Role.agent_developer)
    provider.says("", CALL)
    orphan = await reply_to(developer, agent)
    assert (await admin.post(f"/users/{developer.user.id}/deactivate")).status == 200
    assert (await approve(admin, orphan["tool_calls"][0]["approval_id"])).status == 200
    seen = len(remote.seen)
    await service.runner.drain()
    assert len(remote.seen) == seen
    assert (await last_message(admin, orphan))["details"]["error"]["code"] == "forbidden"

    provider.says("", CALL)
    toolless = await reply_to(admin, agent)
    await admin.delete(f"/v1/agents/{agent['id']}/tools/{guarded['id']}")
    provider.says("It is gone.")
    await approve(admin, toolless["tool_calls"][0]["approval_id"])
    await service.runner.drain()
    done = await last_message(admin, toolless)
    assert done["content"] == "It is gone."
    assert done["details"]["tool_calls"][0]["error"]["code"] == "tool_not_found"


async def test_who_is_asked_and_what_is_not(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    guarded: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
) -> None:
    """The tool's own approvers; input that could not be run; sub-agents; and talk that goes on meanwhile."""
    boss = await people.signed_in(Role.agent_user)
    developer = await people.signed_in(Role.agent_developer)
    rule = {"approvers": {"user_ids": [boss.user.id]}}
    await change_tool(admin, guarded, approval=rule)
    provider.says("", CALL)
    reply = await reply_to(developer, agent)
    approval_id = reply["tool_calls"][0]["approval_id"]
    for person in (developer, admin):
        refused = await approve(person, approval_id)
        assert (refused.status, refused.details["reason"]) == (403, "not_an_approver")

    provider.says("Meanwhile?")
    await reply_to(developer, agent, "Are you there?", conversation_id=reply["conversation_id"])
    assert "waits for someone's approval" in provider.last.json["messages"][-2]["content"]
    provider.says("It rains.")
    assert (await approve(boss, approval_id)).status == 200
    await service.runner.drain()
    said = [one["content"] for one in await messages_of(developer, reply["conversation_id"])]
    assert said == ["Hello", "It rains.", "Are you there?", "Meanwhile?"]

    provider.says("", Call("weather", "{}", "call_1"))
    provider.says("Which city?")
    unusable = await reply_to(developer, agent)
    assert unusable["tool_calls"][0]["error"]["code"] == "validation_error"
    assert unusable["finish_reason"] == "stop"

    helper = await make_agent(admin, name="Helper", primary_model=agent["primary_model"])
    await attach_tool(admin, helper, guarded)
    await attach_agent(admin, agent, helper)
    provider.says("", Call("delegate_to_helper", {"task": "Look"}, "call_9"))
    provider.says("", CALL)
    provider.says("I cannot.")
    provider.says("It cannot.")
    delegated = await reply_to(developer, agent)
    assert [one["error"] and one["error"]["code"] for one in delegated["tool_calls"]] == [
        "approval_required",
        None,
    ]
    bad = await admin.put(f"/v1/tools/{guarded['id']}", {"approval": {"approvers": {"user_ids": ["usr_x"]}}})
    assert (bad.status, list(bad.details)) == (422, ["approval.approvers.user_ids"])
