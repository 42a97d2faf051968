"""Cost of nodes and executions: the models of agents and tools, in loops and in nested workflows."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.workflows.jobs import RETENTION_DAYS, purge_executions
from retinue.workflows.models import WorkflowSpending
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.chat.approving import LOOK_AT_GRAZ, Desk
from tests.chat.conftest import desk, weather
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.factories.workflows import by_node, execution, executions, make_workflow, node, run, start
from tests.usage.prices import set_price

__all__ = ["desk", "weather"]

MODEL = "openai_compatible/test-model"
TOKENS, COST = 1_500, 0.002
"""Tokens and cost of one reply of `_priced`: 1000 tokens at a dollar a million, 500 at two."""
ONE, NOTHING = (TOKENS, COST), (None, None)


async def _priced(admin: Api, provider: ProviderServer) -> None:
    await set_price(admin, MODEL, 1.0, 2.0)
    usage = {"prompt_tokens": 1_000, "completion_tokens": 500, "total_tokens": TOKENS}
    provider.otherwise = lambda heard: Reply(f"You said: {heard}", usage=usage)


def _asking(id: str, agent: dict[str, Any], **more: Any) -> dict[str, Any]:
    return node(id, "agent", agent_id=agent["id"], message="Hello", **more)


def _spent(shown: dict[str, Any]) -> tuple[int | None, float | None]:
    return shown["tokens"], shown["cost_usd"]


def _spent_by_node(done: dict[str, Any]) -> dict[str, Any]:
    return {id: _spent(shown) for id, shown in by_node(done).items()}


async def test_a_run_says_what_each_of_its_nodes_cost(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    links = ["plain>ask", "ask>again"]
    workflow = await make_workflow(
        admin, node("plain"), _asking("ask", agent), _asking("again", agent), links=links
    )
    done = await run(service, admin, workflow)
    assert _spent_by_node(done) == {"plain": NOTHING, "ask": ONE, "again": ONE}
    assert _spent(done) == (2 * TOKENS, 2 * COST)
    (listed,) = await executions(admin, workflow)
    assert _spent(listed) == _spent(done)
    plain = await make_workflow(admin, node("plain"))
    assert _spent(await run(service, admin, plain)) == NOTHING


async def test_a_model_without_a_price_has_tokens_and_no_cost(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Hello", usage={"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3})
    workflow = await make_workflow(admin, _asking("ask", agent))
    done = await run(service, admin, workflow)
    assert (_spent(done), _spent_by_node(done)) == ((3, None), {"ask": (3, None)})


async def test_an_agent_that_logs_no_usage_tells_none(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    path = f"/api/v1/agents/{agent['id']}/log-settings"
    assert (await admin.put(path, {"log_token_usage": False})).status == 200
    workflow = await make_workflow(admin, _asking("ask", agent))
    assert _spent(await run(service, admin, workflow)) == NOTHING


async def test_a_loop_costs_what_its_items_cost(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    repeated = {"type": "agent", "config": {"agent_id": agent["id"], "message": "{{item}}"}}
    workflow = await make_workflow(admin, node("loop", "loop", items=["a", "b", "c"], node=repeated))
    done = await run(service, admin, workflow)
    assert _spent_by_node(done) == {"loop": (3 * TOKENS, 3 * COST)}
    assert [_spent(one) for one in done["nodes"] if one["item"] is not None] == [ONE] * 3
    assert _spent(done) == (3 * TOKENS, 3 * COST)


async def test_a_nested_run_counts_for_the_node_that_waits_for_it(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    inner = await make_workflow(admin, _asking("ask", agent), name="Inner")
    repeated = {"type": "sub_workflow", "config": {"workflow_id": inner["id"]}}
    middle = await make_workflow(admin, node("loop", "loop", items=[1, 2], node=repeated), name="Middle")
    outer = await make_workflow(
        admin, _asking("ask", agent), node("sub", "sub_workflow", workflow_id=middle["id"])
    )
    done = await run(service, admin, outer)
    assert _spent_by_node(done) == {"ask": ONE, "sub": (2 * TOKENS, 2 * COST)}
    assert _spent(done) == (3 * TOKENS, 3 * COST)
    assert [_spent(one) for one in await executions(admin, middle)] == [(2 * TOKENS, 2 * COST)]
    assert [_spent(one) for one in await executions(admin, inner)] == [ONE, ONE]


async def test_a_run_that_an_event_starts_counts_for_itself_alone(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    trigger = {"type": "event", "config": {"event_type": "go.on"}}
    heard = await make_workflow(admin, _asking("ask", agent), trigger=trigger)
    told = await make_workflow(admin, node("tell", "emit_event", event_type="go.on"))
    assert _spent(await run(service, admin, told)) == NOTHING
    assert [_spent(one) for one in await executions(admin, heard)] == [ONE]


async def test_a_tool_costs_what_the_agent_behind_it_costs(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    config = {"kind": "agent", "agent_id": agent["id"]}
    tool = await make_tool(admin, tool_type="custom", config=config)
    workflow = await make_workflow(admin, node("use", "tool", tool_id=tool["id"], input={"message": "Hi"}))
    done = await run(service, admin, workflow)
    assert (_spent(done), _spent_by_node(done)) == (ONE, {"use": ONE})


async def test_an_agent_costs_what_the_workflow_that_it_uses_costs(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    asked = await make_tool(admin, tool_type="custom", config={"kind": "agent", "agent_id": agent["id"]})
    provider.says("", Call(asked["slug"], '{"message": "Inside"}'), usage={"prompt_tokens": 1_000})
    await attach_tool(admin, agent, asked)
    workflow = await make_workflow(admin, _asking("ask", agent))
    done = await run(service, admin, workflow)
    assert _spent_by_node(done) == {"ask": (1_000 + 2 * TOKENS, 0.001 + 2 * COST)}


async def test_what_is_spent_after_an_approval_counts(service: Service, admin: Api, desk: Desk) -> None:
    await _priced(admin, desk.provider)
    desk.provider.says("", LOOK_AT_GRAZ, usage={"prompt_tokens": 1_000})
    workflow = await make_workflow(admin, _asking("ask", desk.agent))
    id = await start(admin, workflow)
    await service.runner.drain()
    (asked,) = (await admin.get("/api/v1/approvals", query={"status": "pending"})).json()["data"]
    assert (await desk.approve(asked["id"])).status == 200
    await service.runner.drain()
    done = await execution(admin, workflow, id)
    assert done["status"] == "completed", done
    assert _spent(done) == (1_000 + TOKENS, 0.001 + COST)


async def test_a_retry_counts_only_what_it_spends_itself(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    fails = node("fails", "sub_workflow", workflow_id="{{input.id}}")
    workflow = await make_workflow(admin, _asking("ask", agent), fails, links=["ask>fails"])
    failed = await run(service, admin, workflow, {"id": "wf_none"})
    assert (failed["status"], _spent(failed)) == ("failed", ONE)
    path = f"/api/v1/workflows/{workflow['id']}/executions/{failed['id']}/retry"
    again = (await admin.post(path, {})).json()["data"]["execution_id"]
    await service.runner.drain()
    done = await execution(admin, workflow, again)
    assert _spent_by_node(done) == {"ask": NOTHING, "fails": NOTHING}
    assert _spent(done) == NOTHING


async def test_who_may_not_read_the_values_reads_the_figures(
    service: Service, admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer
) -> None:
    await _priced(admin, provider)
    workflow = await make_workflow(admin, _asking("ask", agent))
    done = await run(service, admin, workflow)
    viewer = await people.signed_in(Role.viewer)
    shown = await execution(viewer, workflow, done["id"])
    assert (shown["redacted"], by_node(shown)["ask"]["output"]) == (True, None)
    assert (_spent(shown), _spent_by_node(shown)) == (ONE, {"ask": ONE})


async def test_what_was_spent_goes_with_the_execution(
    service: Service,
    admin: Api,
    people: People,
    clock: ManualClock,
    agent: dict[str, Any],
    provider: ProviderServer,
) -> None:
    await _priced(admin, provider)
    await run(service, admin, await make_workflow(admin, _asking("ask", agent)))

    async def kept() -> int:
        async with people.context(admin.user.tenant_id) as ctx:
            await purge_executions(ctx.detached())
            return await ctx.db.count(WorkflowSpending)

    clock.advance((RETENTION_DAYS - 1) * 86_400)
    assert await kept() == 1
    clock.advance(2 * 86_400)
    assert await kept() == 0
