"""An agent whose model is a scripted provider, and a way to read streams."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.adapters.llm_server import ProviderServer, provider_server
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.providers import add_key_for
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi, rest_api


@pytest.fixture
async def provider() -> AsyncIterator[ProviderServer]:
    async with provider_server() as server:
        yield server


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
