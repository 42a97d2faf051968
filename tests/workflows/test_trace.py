"""One cause and everything it sets off, under one correlation id; and what the platform has as a tool."""

from typing import Any

from retinue.app import Service
from retinue.kit.events.dispatch import MAX_HOPS
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.forms import EMAIL, NAME, address, make_form, submission
from tests.factories.notifications import notifications_of
from tests.factories.tools import change_tool, executions_of, make_tool, run_tool
from tests.factories.workflows import execution, executions, make_workflow, node
from tests.tools.servers.rest_api import RestApi


async def test_form_event_workflow_tool_and_notification_are_one_trace(
    service: Service, admin: Api, remote: RestApi
) -> None:
    tool = await make_tool(admin, remote.url)
    workflow = await make_workflow(
        admin,
        node("look", "tool", tool_id=tool["id"], input={"who": "{{input.data.data.name}}"}),
        node("tell", "notification", title="Lead: {{input.data.data.name}}"),
        node("event", "emit_event", event_type="lead.qualified", data={"by": "{{execution.id}}"}),
        links=["look>tell", "tell>event"],
        trigger={"type": "event", "config": {"event_type": "form.submission.created"}},
    )
    after = await make_workflow(
        admin, node("a"), trigger={"type": "event", "config": {"event_type": "lead.*"}}
    )
    form = await make_form(admin)
    answer = await admin.post(
        address(form, "submit"), {"data": {"name": "Ada"}}, headers={"X-Correlation-ID": "one-lead"}
    )
    assert (answer.status, answer.headers["x-correlation-id"]) == (201, "one-lead"), answer
    await service.runner.drain()
    for flow in (workflow, after):
        (one,) = await executions(admin, flow)
        done = await execution(admin, flow, one["id"])
        assert (done["status"], done["correlation_id"]) == ("completed", "one-lead"), done
    answer = await admin.get("/api/v1/event-log/trace/one-lead")
    assert answer.status == 200, answer
    trace = answer.json()
    assert (trace["correlation_id"], trace["total"]) == ("one-lead", len(trace["data"]))
    told = [(one["type"], one["data"].get("node_id", "")) for one in trace["data"]]
    assert told[0] == ("form.submission.created", "")
    in_order = [
        ("workflow.execution.started", ""),
        *(("workflow.execution.node_completed", id) for id in ("look", "tell", "event")),
        ("workflow.execution.completed", ""),
        ("workflow.execution.started", ""),
        ("workflow.execution.node_completed", "a"),
        ("workflow.execution.completed", ""),
    ]
    assert [one for one in told if one[0].startswith("workflow.")] == in_order
    assert ("lead.qualified", "") in told
    (used,) = await executions_of(admin, tool)
    assert used["correlation_id"] == "one-lead"
    (notified,) = (await notifications_of(admin, type="workflow_notification"))["data"]
    assert notified["title"] == "Lead: Ada"


async def test_a_form_is_a_tool_whose_input_is_submitted(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("a", set="{{input.data.name}}"))
    form = await make_form(admin, NAME, EMAIL, workflow_id=workflow["id"])
    tool = await make_tool(admin, tool_type="custom", config={"kind": "form", "form_id": form["id"]})
    done = await run_tool(admin, tool, {"name": "Ada"})
    assert done["status"] == "completed", done
    kept = await submission(admin, form, done["output"]["submission_id"])
    assert (kept["data"], kept["metadata"]["source"]) == ({"name": "Ada"}, "tool")
    await service.runner.drain()
    ran = await execution(admin, workflow, done["output"]["workflow_execution_id"])
    assert (ran["trigger"], ran["output"]) == ("form", "Ada")
    wrong = await run_tool(admin, tool, {"email": "nowhere"})
    assert (wrong["status"], wrong["error"]["code"]) == ("failed", "validation_error")
    assert "name: " in wrong["error"]["message"]
    assert "email: " in wrong["error"]["message"]
    for config, code in (({}, "not_configured"), ({"form_id": "frm_nobody"}, "form_not_found")):
        other = await make_tool(admin, name="Other", tool_type="custom", config={"kind": "form", **config})
        assert (await run_tool(admin, other, {}))["error"]["code"] == code
        assert (await admin.delete(f"/v1/tools/{other['id']}")).status == 204


async def test_an_agent_is_a_tool_that_replies(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    config = {"kind": "agent", "agent_id": agent["id"]}
    tool = await make_tool(admin, tool_type="custom", config=config)
    provider.says("It is four.")
    done = await run_tool(admin, tool, {"message": "What is two and two?", "context": {"place": "Paris"}})
    assert (done["status"], done["output"]["reply"]) == ("completed", "It is four."), done
    kept = (await admin.get("/api/v1/conversations", query={"agent_id": agent["id"]})).json()["data"]
    assert [one["id"] for one in kept] == [done["output"]["conversation_id"]]
    for given, code in (({}, "validation_error"), ({"message": " "}, "validation_error")):
        assert (await run_tool(admin, tool, given))["error"]["code"] == code
    for changed, code in (({"agent_id": ""}, "not_configured"), ({"agent_id": "agt_no"}, "agent_not_found")):
        other = await make_tool(admin, name="Other", tool_type="custom", config=config | changed)
        assert (await run_tool(admin, other, {"message": "Hello"}))["error"]["code"] == code
        assert (await admin.delete(f"/v1/tools/{other['id']}")).status == 204


async def test_an_agent_that_asks_itself_through_a_tool_comes_to_an_end(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    tool = await make_tool(
        admin, name="Myself", tool_type="custom", config={"kind": "agent", "agent_id": agent["id"]}
    )
    await attach_tool(admin, agent, tool)
    for _ in range(MAX_HOPS + 1):
        provider.says("", Call("myself", '{"message": "Again"}'))
    provider.otherwise = lambda _: Reply("Enough.")
    answer = await admin.post(f"/api/v1/agents/{agent['id']}/chat", {"message": "Hello"})
    assert answer.status == 200, answer
    assert answer.json()["message"]["content"] == "Enough."
    used = await executions_of(admin, tool, per_page=100)
    assert len(used) == MAX_HOPS + 1
    assert [one["error"]["code"] for one in used if one["error"]] == ["too_deep"]


async def test_an_agent_behind_a_tool_uses_nothing_that_needs_an_approval(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    guarded = await make_tool(admin, remote.url, name="Guarded")
    await change_tool(admin, guarded, requires_approval=True)
    await attach_tool(admin, agent, guarded)
    tool = await make_tool(
        admin, name="Asking", tool_type="custom", config={"kind": "agent", "agent_id": agent["id"]}
    )
    provider.says("", Call("guarded"))
    provider.says("I may not.")
    done = await run_tool(admin, tool, {"message": "Do it"})
    assert done["output"]["reply"] == "I may not.", done
    assert remote.seen == []
    assert (await admin.get("/api/v1/approvals")).json()["data"] == []
