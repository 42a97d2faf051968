"""The example of every kind of configuration is accepted by the operation that takes it."""

from typing import Any

import pytest

from retinue.adapters.notifiers import NOTIFIERS
from tests.client import Api
from tests.contract.descriptions import config_kinds, document
from tests.factories.agents import make_agent
from tests.factories.tools import make_tool, tool_body
from tests.factories.workflows import PATH as WORKFLOWS
from tests.factories.workflows import make_workflow, node

pytestmark = pytest.mark.every_case

KINDS = {
    field: config_kinds(document(), field)
    for field in (
        "ToolCreate.config",
        "WorkflowCreate.nodes[].config",
        "WorkflowTrigger.config",
        "ChannelCreate.config",
        "SubscriptionCreate.action_config",
    )
}


def every(field: str) -> Any:
    return pytest.mark.parametrize("kind", KINDS[field])


def example(field: str, kind: str) -> dict[str, Any]:
    (found,) = KINDS[field][kind]["examples"]
    return found


async def table_of(api: Api) -> dict[str, Any]:
    columns = [{"name": name, "type": "text"} for name in ("email", "plan")]
    answer = await api.post("/api/v1/data-tables", {"name": "Customers", "columns": columns})
    assert answer.status == 201, answer
    return answer.json()["data"]


async def with_real_ids(api: Api, config: dict[str, Any]) -> dict[str, Any]:
    """The example about things that exist here."""
    makers = {
        "agent_id": lambda: make_agent(api),
        "tool_id": lambda: make_tool(api),
        "table_id": lambda: table_of(api),
        "workflow_id": lambda: make_workflow(api, node("one")),
    }
    return config | {name: (await make())["id"] for name, make in makers.items() if name in config}


async def problems_of(api: Api, **workflow: Any) -> list[dict[str, Any]]:
    draft = await make_workflow(api, status="draft", **workflow)
    answer = await api.post(f"{WORKFLOWS}/{draft['id']}/validate")
    assert answer.status == 200, answer
    return answer.json()["data"]["errors"]


@every("ToolCreate.config")
async def test_a_tool_takes_the_example(admin: Api, kind: str) -> None:
    config = example("ToolCreate.config", kind)
    body = tool_body(tool_type=kind.partition("/")[0], config=config)
    answer = await admin.post("/v1/tools", body)
    assert (answer.status, config.get("kind", "")) == (201, kind.partition("/")[2]), answer


@every("WorkflowCreate.nodes[].config")
async def test_a_node_takes_the_example(admin: Api, kind: str) -> None:
    config = await with_real_ids(admin, example("WorkflowCreate.nodes[].config", kind))
    nodes = [{"id": "one", "type": kind, "config": config}]
    assert await problems_of(admin, name=kind, nodes=nodes) == []


async def test_a_node_with_another_config_is_noticed(admin: Api) -> None:
    config = example("WorkflowCreate.nodes[].config", "http") | {"method": "BREW"}
    (problem,) = await problems_of(admin, nodes=[{"id": "one", "type": "http", "config": config}])
    assert problem["path"] == "nodes.one.config.method"


@every("WorkflowTrigger.config")
async def test_a_trigger_takes_the_example(admin: Api, kind: str) -> None:
    trigger = {"type": kind, "config": example("WorkflowTrigger.config", kind)}
    assert await problems_of(admin, trigger=trigger, nodes=[node("one")]) == []


@every("ChannelCreate.config")
async def test_a_channel_takes_the_example(admin: Api, kind: str) -> None:
    config = example("ChannelCreate.config", kind)
    body = {"name": kind, "type": NOTIFIERS[kind].type, "provider": kind, "config": config}
    answer = await admin.post("/api/v1/notification-channels", body)
    assert answer.status == 201, answer


@every("SubscriptionCreate.action_config")
async def test_a_subscription_takes_the_example(admin: Api, kind: str) -> None:
    config = example("SubscriptionCreate.action_config", kind)
    body = {"event_type": "order.received", "action_type": kind, "action_config": config}
    answer = await admin.post("/api/v1/event-subscriptions", body)
    assert answer.status == 201, answer
