"""An agent whose model has a price, and what its tenant used."""

from typing import Any

import pytest

from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.providers import add_key


@pytest.fixture
async def key(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    models = ["gpt-4o", "gpt-4o-mini"]
    return await add_key(admin, provider="openai", base_url=f"{provider.url}/v1", models=models)


@pytest.fixture
async def agent(admin: Api, key: dict[str, Any]) -> dict[str, Any]:
    """Its model costs 2.5 dollars a million tokens in and 10 out."""
    return await make_agent(admin, primary_model="openai/gpt-4o", status="published")
