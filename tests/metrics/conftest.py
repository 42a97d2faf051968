"""A service that counts, with an agent, a tool and a receiver of webhooks."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.webhooks.hooks import Hooks
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
async def service(make_service: Any) -> Service:
    made: Service = await make_service(metrics=True)
    return made


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    models = ["gpt-4o", "made-up-by-a-tenant"]
    await add_key(admin, provider="openai", base_url=f"{provider.url}/v1", models=models)
    return await make_agent(admin, primary_model="openai/gpt-4o", status="published")


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def hooks(service: Service, people: People, admin: Api, receiver: Receiver) -> Hooks:
    return Hooks(service, people, admin, receiver)
