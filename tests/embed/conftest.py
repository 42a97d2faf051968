"""An agent with a scripted model, and keys that open it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    """An agent that answers with the replies of `provider`."""
    await add_key_for(admin, provider, models=["test-model"])
    return await make_agent(admin, primary_model="openai_compatible/test-model", status="published")


@pytest.fixture
def key_for(admin: Api, service: Service) -> Callable[..., Awaitable[Holder]]:
    async def make(agent: dict[str, Any], **more: Any) -> Holder:
        return Holder(Api(service), agent, await make_key(admin, agent, **more))

    return make


@pytest.fixture
async def holder(key_for: Callable[..., Awaitable[Holder]], agent: dict[str, Any]) -> Holder:
    """The holder of an agent's key that any page may use."""
    return await key_for(agent)
