"""Every type of node with its real counterpart: models, APIs, mail, tables, people, other workflows."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.approvals.jobs import expire_approvals
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer, refusing
from tests.client import Api
from tests.factories.incoming import address, make_hook
from tests.factories.notifications import make_channel, titles_of
from tests.factories.people import People
from tests.factories.tools import make_tool, run_tool
from tests.factories.workflows import (
    PATH,
    by_node,
    edges,
    execution,
    executions,
    make_workflow,
    node,
    run,
    start,
    statuses,
)
from tests.services import at_work
from tests.tools.servers.rest_api import RestApi


async def rows_of(api: Api, table: dict[str, Any]) -> list[dict[str, Any]]:
    path = f"/api/v1/data-tables/{table['id']}/rows"
    return (await api.get(path, query={"sort": "created_at"})).json()["data"]


class Chain(NamedTuple):
    """A workflow that uses everything and was set off by a webhook, and what it used."""

    outer: dict[str, Any]
    inner: dict[str, Any]
    listener: dict[str, Any]
    tool: dict[str, Any]
    mail: Any


@pytest.fixture
async def chain(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
    table: dict[str, Any],
    mail_server: Callable[..., Any],
) -> Chain:
    tool = await make_tool(admin, remote.url)
    mail = mail_server()
    channel = await make_channel(admin, "smtp", mail.config)
    inner = await make_workflow(admin, node("double", set={"said": "{{input.text}}!"}), name="Inner")
    listener = await make_workflow(
        admin,
        node(
            "note", "data_table", table_id=table["id"], operation="insert", values={"name": "{{input.type}}"}
        ),
        trigger={"type": "event", "config": {"event_type": "order.*", "filters": {"city": "Paris"}}},
        name="Listener",
    )
    provider.says("It is sunny.")
    workflow = await make_workflow(
        admin,
        node("ask", "agent", agent_id=agent["id"], message="Weather in {{input.city}}?"),
        node("look", "tool", tool_id=tool["id"], input={"city": "{{input.city}}"}),
        node("call", "http", url=f"{remote.url}/echo", method="POST", query={"q": "{{input.city}}"},
             body={"reply": "{{nodes.ask.output.reply}}"}),
        node("save", "data_table", table_id=table["id"], operation="upsert", match=["name"],
             values={"name": "{{input.city}}", "n": "{{nodes.call.output.status_code}}"}),
        node("find", "data_table", table_id=table["id"], operation="find", filter={"name": "{{input.city}}"}),
        node("tell", "notification", title="{{input.city}}", message="{{nodes.ask.output.reply}}",
             channel_id=channel["id"]),
        node("sub", "sub_workflow", workflow_id=inner["id"], input={"text": "{{nodes.ask.output.reply}}"}),
        node("event", "emit_event", event_type="order.placed", data={"city": "{{input.city}}"}),
        node("all", "parallel"),
        node("end", "end", output={"reply": "{{nodes.ask.output.reply}}",
                                   "row": "{{nodes.find.output.row.n}}",
                                   "sub": "{{nodes.sub.output.said}}",
                                   "target": "{{nodes.look.output.body.target}}"}),
        links=["ask>call", "look>call", "call>save", "save>find", "find>all", "all>tell", "all>sub",
               "all>event", "tell>end", "sub>end", "event>end"],
        name="Outer",
    )  # fmt: skip
    hook = await make_hook(admin, workflow_id=workflow["id"])
    heard = await admin.post(address(hook), {"city": "Paris"}, headers={"X-Correlation-ID": "one-chain"})
    assert heard.status == 200, heard
    await service.runner.drain()
    return Chain(workflow, inner, listener, tool, mail)


async def test_one_workflow_uses_every_part_of_the_platform(
    admin: Api, chain: Chain, provider: ProviderServer, remote: RestApi, table: dict[str, Any]
) -> None:
    (found,) = await executions(admin, chain.outer)
    done = await execution(admin, chain.outer, found["id"])
    assert done["status"] == "completed", done
    assert done["output"] == {
        "reply": "It is sunny.", "row": 200, "sub": "It is sunny.!", "target": "/echo?city=Paris",
    }  # fmt: skip
    assert set(statuses(done).values()) == {"completed"}
    assert provider.last.json["messages"][-1]["content"] == "Weather in Paris?"
    posted = remote.last
    assert (posted.method, posted.target, posted.body) == (
        "POST",
        "/echo?q=Paris",
        b'{"reply":"It is sunny."}',
    )
    assert posted.headers["Idempotency-Key"] == f"{done['id']}:call:-1"
    ((to, letter),) = chain.mail.received()
    assert (to, letter["subject"]) == ([admin.user.email], "Paris")
    assert [(row["name"], row["n"]) for row in await rows_of(admin, table)] == [
        ("Paris", 200),
        ("order.placed", None),
    ]


async def test_everything_a_webhook_starts_has_its_correlation_id(admin: Api, chain: Chain) -> None:
    (found,) = await executions(admin, chain.outer)
    outer = await execution(admin, chain.outer, found["id"])
    assert (outer["trigger"], outer["correlation_id"]) == ("webhook", "one-chain")
    assert [one["trigger"] for one in await executions(admin, chain.inner)] == ["workflow"]
    (by_event,) = await executions(admin, chain.listener)
    assert (by_event["trigger"], by_event["status"]) == ("event", "completed")
    trace = (await admin.get("/api/v1/event-log/trace/one-chain")).json()["data"]
    names = [one["type"] for one in trace]
    for name in (
        "system.webhook.received", "workflow.execution.started", "agent.chat.message", "order.placed",
        "data_table.row.created", "workflow.execution.node_completed", "workflow.execution.completed",
    ):  # fmt: skip
        assert name in names, name
    assert names.count("workflow.execution.completed") == 3
    used = (await admin.get(f"/v1/tools/{chain.tool['id']}/executions")).json()["data"]
    assert [one["correlation_id"] for one in used] == ["one-chain"]


async def test_the_next_node_reads_the_typed_value_of_a_structured_answer(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, table: dict[str, Any]
) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
        "required": ["city", "people"],
    }
    ask = {"agent_id": agent["id"], "message": "Where?"}
    workflow = await make_workflow(
        admin,
        node("ask", "agent", **ask, output_schema=schema),
        node("save", "data_table", table_id=table["id"], operation="insert",
             values={"name": "{{nodes.ask.output.output.city}}", "n": "{{nodes.ask.output.output.people}}"}),
        edges=edges("ask>save"),
    )  # fmt: skip
    provider.says('{"city": "Graz"}')
    provider.says('{"city": "Graz", "people": 300000}')
    id = await start(admin, workflow)
    await service.runner.drain()
    done = await execution(admin, workflow, id)
    assert done["status"] == "completed"
    assert [(row["name"], row["n"]) for row in await rows_of(admin, table)] == [("Graz", 300000)]
    provider.says("No.")
    provider.says("No.")
    id = await start(admin, workflow)
    await service.runner.drain()
    assert (await execution(admin, workflow, id))["error"]["code"] == "output_invalid"
    wrong = node("ask", "agent", **ask, output_schema={"type": "array"})
    answer = await admin.put(f"/api/v1/workflows/{workflow['id']}", {"nodes": [wrong], "edges": []})
    assert (answer.status, list(answer.json()["error"]["details"])) == (
        422,
        ["nodes.ask.config.output_schema"],
    )


async def test_an_agent_that_fails_fails_its_node_and_is_asked_again(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, clock: ManualClock
) -> None:
    workflow = await make_workflow(
        admin,
        node("ask", "agent", agent_id=agent["id"], message="Hello", retry={"max": 1, "delay_ms": 1000}),
        node("more", "agent", agent_id=agent["id"], message="More",
             conversation_id="{{nodes.ask.output.conversation_id}}"),
        links=["ask>more"],
    )  # fmt: skip
    provider.fails(*[refusing(400)] * 8)
    id = await start(admin, workflow)
    await service.runner.drain()
    assert (await execution(admin, workflow, id))["status"] == "running", "it will be tried again"
    provider.faults.clear()
    clock.advance(2)
    for _ in range(4):
        await service.runner.drain()
        clock.advance(70)
    done = await execution(admin, workflow, id)
    assert done["status"] == "completed", done
    assert by_node(done)["ask"]["attempt"] == 2
    first, second = by_node(done)["ask"]["output"], by_node(done)["more"]["output"]
    assert first["conversation_id"] == second["conversation_id"]
    assert first["message_id"] != second["message_id"]


async def test_cancelling_a_run_cancels_whom_it_waits_for(
    service: Service, admin: Api, agent: dict[str, Any]
) -> None:
    inner = await make_workflow(admin, node("wait", "delay", seconds=600), name="Inner")
    workflow = await make_workflow(
        admin,
        node("ask", "agent", agent_id=agent["id"], message="Hello"),
        node("sub", "sub_workflow", workflow_id=inner["id"]),
        node("people", "approval", title="May I?"),
    )
    id = await start(admin, workflow)
    for _ in range(3):
        # Only the nodes: the agent is not to be asked.
        turn = await service.runner._turn()
        await asyncio.gather(*(service.runner._run(job) for job in turn.jobs if job.kind != "chat.answer"))
    (child,) = await executions(admin, inner)
    assert (await execution(admin, workflow, id))["status"] == "waiting"
    assert (await admin.post(f"{PATH}/{workflow['id']}/executions/{id}/cancel", {})).status == 200
    await service.runner.drain()
    assert (await execution(admin, inner, child["id"]))["status"] == "cancelled"
    answer = await admin.get("/api/v1/approvals")
    assert answer.status == 200, answer
    (asked,) = answer.json()["data"]
    assert asked["status"] == "cancelled"
    assert set(statuses(await execution(admin, workflow, id)).values()) == {"cancelled"}
    jobs = (await admin.get(f"/api/v1/agents/{agent['id']}/chat/jobs")).json()["data"]
    assert [job["status"] for job in jobs] == ["cancelled"]


async def test_people_decide_which_way_a_run_goes_on(service: Service, people: People, admin: Api) -> None:
    boss = await people.signed_in(Role.tenant_admin)
    config = {
        "title": "Pay {{input.sum}}?",
        "approvers": {"user_ids": [boss.user.id]},
        "payload": {"sum": "{{input.sum}}"},
    }
    workflow = await make_workflow(
        admin,
        node("ask", "approval", **config),
        node("pay", set="{{nodes.ask.output.comment}}"),
        node("refuse", set="{{nodes.ask.output.decision}}"),
        links=["ask>pay:approved", "ask>refuse:rejected"],
    )
    strict = await make_workflow(admin, node("ask", "approval", **config), node("pay"), links=["ask>pay"])
    for flow, verdict, status, nodes in (
        (workflow, "approve", "completed", {"ask": "completed", "pay": "completed", "refuse": "skipped"}),
        (workflow, "reject", "completed", {"ask": "completed", "pay": "skipped", "refuse": "completed"}),
        (strict, "reject", "failed", {"ask": "failed"}),
    ):
        id = await start(admin, flow, {"sum": 5})
        await service.runner.drain()
        assert (await execution(admin, flow, id))["status"] == "waiting"
        (asked,) = (await boss.get("/api/v1/approvals", query={"status": "pending"})).json()["data"]
        assert (asked["title"], asked["payload"], asked["source"]["node_id"]) == ("Pay 5?", {"sum": 5}, "ask")
        answer = await boss.post(f"/api/v1/approvals/{asked['id']}/{verdict}", {"comment": "hm"})
        assert answer.status == 200, answer
        await service.runner.drain()
        done = await execution(admin, flow, id)
        assert (done["status"], statuses(done)) == (status, nodes), verdict
        if status == "failed":
            assert done["error"]["code"] == "approval_rejected"
    assert "Workflow Flow failed" in await titles_of(admin)


async def test_an_approval_that_expires_was_not_rejected(
    service: Service, admin: Api, people: People, clock: ManualClock
) -> None:
    boss = await people.signed_in(Role.agent_user)
    config = {"title": "Pay?", "approvers": {"user_ids": [boss.user.id]}, "expires_in_s": 60}
    flow = await make_workflow(admin, node("ask", "approval", **config), node("pay"), links=["ask>pay"])
    id = await start(admin, flow, {})
    await service.runner.drain()
    clock.advance(61)
    async with people.context() as ctx:
        await expire_approvals(ctx.detached())
    await service.runner.drain()
    done = await execution(admin, flow, id)
    assert (done["status"], done["error"]["code"]) == ("failed", "approval_timeout")
    assert done["error"]["message"] == "The approval timed out. Nobody decided in time."


async def test_tables_are_written_and_emptied_exactly_once(
    service: Service, admin: Api, table: dict[str, Any]
) -> None:
    of = {"table_id": table["id"]}
    insert = {**of, "operation": "insert", "values": {"n": "{{item}}"}}
    workflow = await make_workflow(
        admin,
        node("many", "loop", items=[1, 2, 3],
             node={"type": "data_table", "config": insert}),
        node("two", "data_table", **of, operation="find", filter={"n": 2}),
        node("change", "data_table", **of, operation="update", row_id="{{nodes.two.output.row.id}}",
             values={"n": 20}),
        node("one", "data_table", **of, operation="delete", filter={"n": 1}),
        node("gone", "data_table", **of, operation="delete",
             row_id="{{nodes.many.output.results[2].row.id}}"),
        links=["many>two", "two>change", "change>one", "one>gone"],
    )  # fmt: skip
    done = await run(service, admin, workflow)
    assert done["status"] == "completed", done
    assert [row["n"] for row in await rows_of(admin, table)] == [20]
    bad = await make_workflow(
        admin,
        node("a", "data_table", **of, operation="insert", values={"n": "{{input.n}}", "nowhere": 1}),
        node("b", "loop", items=[1, "x", 3], on_item_error="fail", concurrency=1,
             node={"type": "data_table", "config": insert}),
    )  # fmt: skip
    done = await run(service, admin, bad, {"n": "no number"})
    assert done["status"] == "failed"
    assert "n " in done["error"]["message"]


async def test_a_workflow_is_a_tool_whose_input_is_its_own(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("a", set={"twice": ["{{input.x}}", "{{input.x}}"]}))
    tool = await make_tool(
        admin,
        tool_type="custom",
        config={"kind": "workflow", "workflow_id": workflow["id"], "timeout_ms": 3000},
    )
    async with at_work(service):
        done = await run_tool(admin, tool, {"x": 4})
    assert (done["status"], done["output"]) == ("completed", {"twice": [4, 4]})


async def test_calls_outside_are_guarded_and_their_failures_told(
    service: Service, admin: Api, remote: RestApi
) -> None:
    remote.answers = [(503, {}, b"later"), (404, {"content-type": "text/plain"}, b"nothing")]
    workflow = await make_workflow(
        admin,
        node(
            "busy", "http", url=f"{remote.url}/scripted", retry={"max": 1, "delay_ms": 0}, on_error="continue"
        ),
        node("lenient", "http", url=f"{remote.url}/scripted", fail_on_error=False),
        node("inner", "http", url="{{input.url}}", on_error="continue"),
        node("slow", "http", url=f"{remote.url}/hanging", timeout_ms=50, on_error="continue"),
        node("tool", "tool", tool_id="{{input.tool}}", on_error="continue"),
        links=["busy>lenient", "lenient>inner", "inner>slow", "slow>tool"],
    )
    done = await run(service, admin, workflow, {"url": "http://169.254.169.254/latest", "tool": "tool_none"})
    remote.release.set()
    assert done["status"] == "completed", done
    found = {id: (one["error"] or {}).get("code") for id, one in by_node(done).items()}
    assert found == {"busy": "http_error", "lenient": None, "inner": "ssrf_blocked", "slow": "timeout",
                     "tool": "tool_not_found"}  # fmt: skip
    assert by_node(done)["busy"]["attempt"] == 2
