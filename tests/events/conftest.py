"""A service whose workflows are started by the test: what follows is scripted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.subscription_actions import WorkflowStart, WorkflowStarter
from tests.client import Api
from tests.tools.servers.rest_api import RestApi, rest_api


class Workflows:
    """`emits` says which event a workflow emits when it is started, `fails` what it raises."""

    def __init__(self) -> None:
        self.known = {"wf_a", "wf_b"}
        self.started: list[WorkflowStart] = []
        self.emits: dict[str, tuple[str, dict[str, Any]]] = {}
        self.fails: list[Exception] = []

    async def start(self, ctx: Context, start: WorkflowStart) -> str:
        self.started.append(start)
        if start.workflow_id in self.emits:
            ctx.emit_custom(*self.emits[start.workflow_id])
        if self.fails:
            raise self.fails.pop(0)
        return f"wfx_{len(self.started)}"

    async def exists(self, _ctx: Context, workflow_id: str) -> bool:
        return workflow_id in self.known


@pytest.fixture
def workflows() -> Workflows:
    return Workflows()


@pytest.fixture
async def service(make_service: Any, workflows: Workflows) -> Service:
    starter = WorkflowStarter(workflows.start, workflows.exists)
    return await make_service(
        manifests=(*DOMAINS, Manifest(name="test_workflows", workflow_starters=(starter,)))
    )


@pytest.fixture
async def receiver() -> AsyncIterator[RestApi]:
    async with rest_api() as api:
        yield api


SUBSCRIPTIONS = "/api/v1/event-subscriptions"


def subscription_body(event_type: str = "order.placed", **more: Any) -> dict[str, Any]:
    return {
        "event_type": event_type,
        "action_type": "workflow",
        "action_config": {"workflow_id": "wf_a"},
        **more,
    }


async def subscribe(api: Api, event_type: str = "order.placed", **more: Any) -> dict[str, Any]:
    answer = await api.post(SUBSCRIPTIONS, subscription_body(event_type, **more))
    assert answer.status == 201, answer
    return answer.json()


async def read(api: Api, subscription: dict[str, Any]) -> dict[str, Any]:
    answer = await api.get(f"{SUBSCRIPTIONS}/{subscription['id']}")
    assert answer.status == 200, answer
    return answer.json()


async def emit(api: Api, event_type: str = "order.placed", **data: Any) -> dict[str, Any]:
    answer = await api.post("/api/v1/events/test", {"event_type": event_type, "data": data})
    assert answer.status == 202, answer
    return answer.json()
