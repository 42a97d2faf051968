"""An agent whose model is a scripted provider, and a way to read streams."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.chat.approving import Cast, Desk
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import change_tool, make_tool
from tests.tools.servers.rest_api import RestApi, rest_api


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    """Answers with what `provider` says."""
    await add_key_for(admin, provider, models=["test-model", "spare-model"])
    return await make_agent(admin, primary_model="openai_compatible/test-model", status="published")


@pytest.fixture
async def remote() -> AsyncIterator[RestApi]:
    """An API somewhere else, for tools to call."""
    async with rest_api() as api:
        yield api


@pytest.fixture
async def weather(admin: Api, agent: dict[str, Any], remote: RestApi) -> dict[str, Any]:
    """A tool of the agent."""
    tool = await make_tool(
        admin,
        remote.url,
        description="Tells the weather of a city.",
        input_schema={
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    )
    await attach_tool(admin, agent, tool)
    return tool


@pytest.fixture
async def desk(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    weather: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
) -> Desk:
    """The agent, and its tool, which nobody may call without approval."""
    rule = {"editable_fields": ["city"]}
    guarded = await change_tool(admin, weather, requires_approval=True, approval=rule)
    return Desk(service, admin, people, agent, guarded, provider, remote)


@pytest.fixture
def cast(desk: Desk) -> Cast:
    """Gives the agent sub-agents, and all of them their lines."""
    return Cast(desk)


@pytest.fixture
async def helper(desk: Desk, cast: Cast) -> dict[str, Any]:
    """A sub-agent with the guarded tool."""
    return await cast.hire("Helper", tools=(desk.tool,))
