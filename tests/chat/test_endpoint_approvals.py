"""Requests of a REST tool that wait for an approval while its others do not."""

from typing import Any

import pytest

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi

pytestmark = pytest.mark.either_database

LOOK = Call("shop__look", '{"order": "7"}')
REFUND = Call("shop__refund", '{"order": "7", "amount": 9}')


async def attach_shop(admin: Api, agent: dict[str, Any], remote: RestApi, override: Any) -> None:
    endpoints = {
        "look": {"method": "GET", "path": "/echo/{order}"},
        "refund": {"method": "POST", "path": "/echo", "requires_approval": True},
    }
    tool = await make_tool(
        admin,
        name="Shop",
        config={"base_url": remote.url, "endpoints": endpoints},
        input_schema={"type": "object"},
    )
    await attach_tool(admin, agent, tool)
    if override:
        path = f"/v1/agents/{agent['id']}/tools/{tool['id']}"
        answer = await admin.patch(path, {"config_override": override})
        assert answer.status == 200, answer


async def call_states(admin: Api, agent: dict[str, Any], provider: ProviderServer, *calls: Call) -> list[str]:
    provider.says("", *calls)
    provider.says("Done.")
    return [call["status"] for call in (await reply_to(admin, agent))["tool_calls"]]


@pytest.mark.parametrize(
    "override",
    [
        None,
        {"endpoints": {"refund": {"method": "POST", "path": "/echo", "requires_approval": False}}},
    ],
    ids=["as the tool says", "with an override that lifts it"],
)
async def test_a_guarded_request_waits_and_the_others_do_not(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi, override: Any
) -> None:
    await attach_shop(admin, agent, remote, override)
    states = await call_states(admin, agent, provider, LOOK, REFUND)
    assert states == ["completed", "awaiting_approval"]
    assert [seen.method for seen in remote.seen] == ["GET"]


@pytest.mark.parametrize(
    "override",
    [
        {"endpoints": {"look": {"method": "POST", "path": "/echo"}}},
        {"base_url": "http://127.0.0.1:9"},
    ],
    ids=["an endpoint", "the address"],
)
async def test_a_request_that_an_override_moves_waits_beside_a_guarded_one(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi, override: Any
) -> None:
    await attach_shop(admin, agent, remote, override)
    assert await call_states(admin, agent, provider, LOOK) == ["awaiting_approval"]
    assert remote.seen == []


async def test_a_request_that_an_override_adds_waits_beside_a_guarded_one(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    await attach_shop(admin, agent, remote, {"endpoints": {"pay": {"method": "POST", "path": "/echo"}}})
    assert await call_states(admin, agent, provider, Call("shop__pay", '{"amount": 9}')) == [
        "awaiting_approval"
    ]
    assert remote.seen == []
