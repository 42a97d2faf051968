"""Tests of the functions that a model is offered for an agent's tools, and of calls to them."""

from typing import Any

import pytest

from retinue.chat.engine.tool_functions import MAX_ENDPOINT_FUNCTIONS
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import ask_for_offers, reply_to
from tests.client import Api
from tests.factories.agents import attach_tool, change_agent
from tests.factories.tools import change_tool, make_tool
from tests.tools.servers.rest_api import RestApi

pytestmark = pytest.mark.either_database

LOOK = {
    "method": "GET",
    "path": "/echo",
    "description": "Looks an order up.",
    "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
}
TAKE_BACK = {"method": "POST", "path": "/echo"}


async def shop(admin: Api, agent: dict[str, Any], remote: RestApi, **more: Any) -> dict[str, Any]:
    """A REST tool with two endpoints, one of them with a name that no function can have."""
    config = {"base_url": remote.url, "endpoints": {"look": LOOK, "take back!": TAKE_BACK}}
    tool = await make_tool(admin, name="Shop", description="The shop", config=config, **more)
    await attach_tool(admin, agent, tool)
    return tool


async def test_each_endpoint_is_a_function_with_what_is_said_of_it(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    await shop(admin, agent, remote)
    functions = await ask_for_offers(admin, agent, provider)
    assert list(functions) == ["shop__look", "shop__take_back"]
    assert functions["shop__look"]["description"] == "Shop: Looks an order up."
    assert functions["shop__look"]["parameters"] == LOOK["input_schema"]
    assert functions["shop__take_back"]["description"] == "The shop: POST /echo"
    assert functions["shop__take_back"]["parameters"]["properties"].keys() == {"path_params", "query", "body"}


async def test_a_function_calls_its_endpoint(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    # As an import of an OpenAPI description declares it.
    of_tool = {"type": "object", "properties": {"endpoint": {"type": "string"}}, "required": ["endpoint"]}
    await shop(admin, agent, remote, input_schema=of_tool)
    provider.says("", Call("shop__look", '{"id": "7"}'), Call("shop__take_back", '{"endpoint": "look"}'))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    assert [(one["tool"], one["status"]) for one in reply["tool_calls"]] == [
        ("shop__look", "completed"),
        ("shop__take_back", "completed"),
    ]
    assert reply["tool_calls"][0]["input"] == {"id": "7"}
    assert {(one.method, one.target) for one in remote.seen} == {("GET", "/echo?id=7"), ("POST", "/echo")}


async def test_a_model_that_names_the_tool_alone_is_understood(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    await shop(admin, agent, remote)
    provider.says("", Call("shop", '{"endpoint": "look", "id": "7"}'))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    assert [one["status"] for one in reply["tool_calls"]] == ["completed"]
    assert remote.last.target == "/echo?id=7"


async def test_an_override_decides_which_endpoints_there_are(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    tool = await shop(admin, agent, remote)
    path = f"/v1/agents/{agent['id']}/tools/{tool['id']}"
    answer = await admin.patch(path, {"config_override": {"endpoints": {"take back!": None}}})
    assert answer.status == 200, answer
    assert list(await ask_for_offers(admin, agent, provider)) == ["shop__look"]


async def test_a_tool_with_very_many_endpoints_is_one_function_without_the_search(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, remote: RestApi
) -> None:
    tool = await shop(admin, agent, remote)
    many = {
        f"e{number}": {"method": "GET", "path": f"/echo/{number}"} for number in range(MAX_ENDPOINT_FUNCTIONS)
    }
    await change_tool(admin, tool, config={"endpoints": many})
    await change_agent(admin, agent, tool_search="off")
    functions = await ask_for_offers(admin, agent, provider)
    assert list(functions) == ["shop"]
    assert (
        len(functions["shop"]["parameters"]["properties"]["endpoint"]["enum"]) == MAX_ENDPOINT_FUNCTIONS + 2
    )
    provider.says("", Call("shop", '{"endpoint": "e3"}'))
    provider.says("Done.")
    await reply_to(admin, agent)
    assert remote.last.target == "/echo/3"


async def test_a_tool_called_web_search_does_not_hide_the_web_search(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    tool = await make_tool(admin, name="Mine", slug="web_search", tool_type="webhook", config={})
    await attach_tool(admin, agent, tool)
    assert (await admin.post(f"/api/v1/agents/{agent['id']}/websearch/enable")).status == 200
    assert list(await ask_for_offers(admin, agent, provider)) == ["web_search", "web_search_2", "read_page"]
