"""A run with an `Idempotency-Key` that a crash cuts off is not done a second time."""

from collections.abc import Iterator
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit import failpoints
from retinue.tools.executors.call import MAX_TIMEOUT_MS
from tests.client import Api, Response
from tests.factories.tools import executions_of, make_tool
from tests.tools.servers.rest_api import RestApi

KEY = {"Idempotency-Key": "once"}


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


async def execute(api: Api, tool: dict[str, Any]) -> Response:
    return await api.post(f"/v1/tools/{tool['id']}/execute", {"input": {}}, headers=KEY)


async def cut_off(api: Api, tool: dict[str, Any], place: str) -> None:
    failpoints.arm(f"{place}:1:error")
    assert (await execute(api, tool)).status == 500
    failpoints.arm("")


async def test_a_run_that_had_ended_is_answered_again(admin: Api, remote: RestApi) -> None:
    tool = await make_tool(admin, remote.url)
    await cut_off(admin, tool, "before_answer_kept")
    answer = (await execute(admin, tool)).json()["data"]
    assert answer["status"] == "completed"
    (recorded,) = await executions_of(admin, tool)
    assert (recorded["id"], recorded["output"]) == (answer["execution_id"], answer["output"])
    assert len(remote.seen) == 1


async def test_a_run_that_was_cut_off_is_said_to_be(admin: Api, remote: RestApi) -> None:
    tool = await make_tool(admin, remote.url)
    await cut_off(admin, tool, "after_step")
    answer = await execute(admin, tool)
    assert (answer.status, answer.json()["data"]["status"]) == (200, "failed")
    assert "interrupted" in answer.json()["data"]["error"]["message"]
    (recorded,) = await executions_of(admin, tool)
    assert (recorded["id"], recorded["status"]) == (answer.json()["data"]["execution_id"], "failed")
    assert remote.seen == []


async def test_a_run_that_was_cut_off_and_that_nobody_asks_for_again_ends(
    service: Service, admin: Api, remote: RestApi, clock: Any
) -> None:
    tool = await make_tool(admin, remote.url)
    await cut_off(admin, tool, "after_step")
    assert [one["status"] for one in await executions_of(admin, tool)] == []
    clock.advance(MAX_TIMEOUT_MS / 1000 + 60)
    await service.runner.drain()
    assert [one["status"] for one in await executions_of(admin, tool)] == ["failed"]
