"""A machine works as a person does: it chats, runs tools and workflows, and owns what it made."""

import pytest

from tests.chat.approving import LOOK_AT_GRAZ, Desk, questions_of
from tests.chat.background_jobs import accept, job_of
from tests.chat.speaking import messages_of, path_of, reply_to, stream, text_of
from tests.factories import credentials
from tests.factories.machines import PATH, machine, make_account, make_secret, token_of
from tests.factories.workflows import execution, make_workflow, node, start

CHATS = ("agents:read", "agents:chat", "conversations:read", "conversations:write", "approvals:read")


@pytest.fixture
async def robot(admin):
    return await machine(admin, *CHATS)


async def test_a_machine_chats_in_each_way_and_owns_its_conversations(robot, agent, provider, service):
    for text in ("One.", "Two.", "Three.", "Four."):
        provider.says(text)
    first = await reply_to(robot, agent)
    assert first["message"]["content"] == "One."
    assert text_of(await stream(robot, agent, conversation_id=first["conversation_id"])) == "Two."
    job = await accept(robot, agent)
    await service.runner.drain()
    done = await job_of(robot, agent, job)
    assert done["status"] == "completed", done
    completion = await robot.post(
        "/v1/chat/completions", {"model": agent["id"], "messages": [{"role": "user", "content": "Hi"}]}
    )
    assert completion.json()["choices"][0]["message"]["content"] == "Four."
    listed = (await robot.get("/api/v1/conversations")).json()["data"]
    assert [one["user_id"] for one in listed] == [robot.user["id"]] * 3
    assert len(await messages_of(robot, first["conversation_id"])) == 4
    assert (await robot.delete(f"/api/v1/conversations/{first['conversation_id']}")).status < 300


async def test_another_machine_sees_and_continues_none_of_its_conversations(admin, robot, agent, provider):
    provider.says("One.")
    first = await reply_to(robot, agent)
    other = await machine(admin, *CHATS, name="Other")
    assert (await other.get("/api/v1/conversations")).json()["data"] == []
    taken = await other.post(path_of(agent), {"message": "Hi", "conversation_id": first["conversation_id"]})
    assert (taken.status, taken.code) == (404, "conversation_not_found")


async def test_usage_names_the_machine_that_chatted(admin, robot, agent, provider):
    provider.says("One.")
    await reply_to(robot, agent)
    usage = (await admin.get("/api/v1/usage", query={"group_by": "user"})).json()
    assert robot.user["id"] in str(usage)


@pytest.mark.parametrize("change", [{"status": "disabled"}, {"permissions": ["agents:read"]}, None])
async def test_background_work_ends_with_the_rights_of_its_account(
    admin, robot, agent, provider, service, change
):
    provider.says("Never said.")
    job = await accept(robot, agent)
    path = f"{PATH}/{robot.user['id']}"
    if change is None:
        assert (await admin.delete(path)).status == 204
    else:
        assert (await admin.patch(path, change)).status == 200
    await service.runner.drain()
    done = await job_of(admin, agent, job)
    assert (done["status"], done["error"]["code"]) == ("failed", "forbidden")


async def test_a_machine_asks_for_approval_and_people_decide(desk: Desk, robot):
    decider = await machine(desk.admin, *CHATS, "approvals:decide", name="Decider")
    desk.provider.says("", LOOK_AT_GRAZ)
    reply = await desk.ask(robot)
    [approval_id] = questions_of(reply["tool_calls"])
    shown = await desk.approval(approval_id)
    assert shown["requested_by"] == {"type": "service_account", "id": robot.user["id"]}
    await desk.work()
    notices = (await desk.admin.get("/api/v1/notifications")).json()["data"]
    assert any("The service account Deployment asks for approval" in one["message"] for one in notices)
    assert (await robot.get(f"/api/v1/approvals/{approval_id}")).status == 200
    assert [one["id"] for one in (await robot.get("/api/v1/approvals")).json()["data"]] == [approval_id]
    refused = await decider.post(f"/api/v1/approvals/{approval_id}/approve", {})
    assert refused.status in {403, 404}
    desk.provider.says("Sunny.")
    assert (await desk.approve(approval_id)).status == 200
    await desk.work()
    assert (await desk.last_message(reply, robot))["content"] == "Sunny."
    assert desk.remote.seen


async def test_a_workflow_and_a_tool_run_as_the_machine_that_started_them(
    admin, service, agent, provider, weather, remote
):
    robot = await machine(
        admin,
        *CHATS,
        *("workflows:read", "workflows:write", "workflows:execute", "tools:read", "tools:execute"),
        *("files:read", "files:write"),
    )
    provider.says("From a workflow.")
    flow = await make_workflow(robot, node("ask", "agent", agent_id=agent["id"], message="Hello"))
    assert flow["created_by"] == robot.user["id"]
    run = await start(robot, flow)
    await service.runner.drain()
    ended = await execution(robot, flow, run)
    assert ended["status"] == "completed", ended
    [conversation] = (await robot.get("/api/v1/conversations")).json()["data"]
    assert conversation["user_id"] == robot.user["id"]

    ran = await robot.post(f"/v1/tools/{weather['id']}/execute", {"input": {"city": "Graz"}, "async": True})
    assert ran.status in {200, 202}, ran
    await service.runner.drain()
    runs = (await robot.get(f"/v1/tools/{weather['id']}/executions")).json()["data"]
    assert [one["status"] for one in runs] == ["completed"], runs

    # Narrowed between start and run, the workflow may not chat any more.
    run = await start(robot, flow)
    kept = [key for key in robot.user["permissions"] if key != "agents:chat"]
    assert (await admin.patch(f"{PATH}/{robot.user['id']}", {"permissions": kept})).status == 200
    await service.runner.drain()
    assert (await execution(admin, flow, run))["status"] == "failed"


async def test_chats_spend_the_budget_of_the_account(admin, agent, provider, service):
    account = await make_account(admin, *CHATS, monthly_token_budget=100)
    robot = admin.signed_in(await token_of(admin, await make_secret(admin, account)))
    provider.says("One.", usage={"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100})
    await reply_to(robot, agent)
    shown = (await admin.get(f"{PATH}/{account['id']}")).json()
    assert shown["tokens_used"] == 100
    for rest in ("", "/stream", "/async"):
        refused = await robot.post(path_of(agent, rest), {"message": "More"})
        assert (refused.status, refused.code) == (429, "rate_limited"), refused
        assert refused.details["limit"] == 100
        assert refused.details["scope"] == {"type": "service_account", "id": None}
    assert (await robot.get("/api/v1/agents")).status == 200
    await admin.patch(f"{PATH}/{account['id']}", {"monthly_token_budget": 1_000_000})
    provider.says("Two.")
    assert (await reply_to(robot, agent))["message"]["content"] == "Two."
    more = (await admin.get(f"{PATH}/{account['id']}")).json()["tokens_used"]
    assert more > shown["tokens_used"]


async def test_a_credential_can_be_kept_for_one_machine(admin, robot):
    credential = await credentials.create(admin)
    answer = await credentials.grant(admin, credential["id"], "user", robot.user["id"])
    assert answer.status == 201, answer
    unknown = await credentials.grant(admin, credential["id"], "user", "sac_" + "a" * 26)
    assert unknown.status == 422
    keeper = await machine(admin, "credentials:read", "credentials:write", name="Keeper")
    made = await credentials.create(keeper, name="Own")
    trail = (await admin.get(f"/v1/credentials/{made['id']}/audit")).json()["data"]
    actor = {"type": "service_account", "id": keeper.user["id"], "name": "Keeper"}
    assert trail[0]["actor"] == actor
