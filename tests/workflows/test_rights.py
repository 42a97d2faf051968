"""Tests that a workflow does for somebody only what they may do themselves at that moment."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.factories.workflows import by_node, execution, executions, make_workflow, node, start, statuses
from tests.services import at_work
from tests.tools.servers.rest_api import RestApi


async def test_nodes_do_nothing_that_their_account_may_no_longer_do(
    service: Service,
    admin: Api,
    people: People,
    clock: ManualClock,
    agent: dict[str, Any],
    table: dict[str, Any],
    remote: RestApi,
) -> None:
    developer = await people.signed_in(Role.agent_developer)
    tool = await make_tool(admin, remote.url)
    inner = await make_workflow(admin, node("a"))
    acting = [
        node("agent", "agent", agent_id=agent["id"], message="Hello"),
        node("tool", "tool", tool_id=tool["id"]),
        node("insert", "data_table", table_id=table["id"], operation="insert", values={"name": "x"}),
        node("find", "data_table", table_id=table["id"], operation="find"),
        node("event", "emit_event", event_type="order.placed"),
        node("tell", "notification", title="Hello"),
        node("http", "http", url=f"{remote.url}/echo"),
        node("sub", "sub_workflow", workflow_id=inner["id"]),
        node("approval", "approval", approvers={"roles": ["tenant_admin"]}),
    ]
    workflow = await make_workflow(
        developer,
        node("wait", "delay", seconds=60),
        *({**one, "on_error": "continue"} for one in acting),
        node("shape", set="{{nodes.tool.error.message}}"),
        edges=[{"from": "wait", "to": one["id"]} for one in acting] + [{"from": "tool", "to": "shape"}],
    )
    id = await start(developer, workflow)
    await service.runner.drain()
    role = {"role": "viewer"}
    assert (await admin.put(f"/users/{developer.user.id}/role", role)).status == 200
    clock.advance(61)
    await service.runner.drain()
    done = await execution(admin, workflow, id)
    assert done["status"] == "completed", done
    found = {name: (one["error"] or {}).get("code") for name, one in by_node(done).items()}
    # A viewer may read tables, and what only shapes concerns nobody.
    assert found == dict.fromkeys((one["id"] for one in acting), "forbidden") | {
        "find": None,
        "wait": None,
        "shape": None,
    }
    assert by_node(done)["shape"]["output"].endswith("lacks the permission tools:execute.")
    assert remote.seen == []
    assert await executions(admin, inner) == []
    assert (await admin.get("/api/v1/approvals")).json()["data"] == []


async def test_a_workflow_that_an_agent_has_as_a_tool_runs_for_whoever_made_it(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    table: dict[str, Any],
    provider: ProviderServer,
) -> None:
    insert = {"table_id": table["id"], "operation": "insert", "values": {"name": "{{input.name}}"}}
    workflow = await make_workflow(admin, node("a", "data_table", **insert))
    config = {"kind": "workflow", "workflow_id": workflow["id"]}
    await attach_tool(admin, agent, await make_tool(admin, name="Keep", tool_type="custom", config=config))
    user = await people.signed_in(Role.agent_user)
    provider.says("", Call("keep", '{"name": "Ada"}'))
    provider.says("Kept.")

    async with at_work(service):
        answer = await user.post(f"/api/v1/agents/{agent['id']}/chat", {"message": "Keep Ada"})
    assert answer.json()["message"]["content"] == "Kept.", answer
    (one,) = await executions(admin, workflow)
    assert statuses(await execution(admin, workflow, one["id"])) == {"a": "completed"}
