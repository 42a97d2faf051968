"""Servers that speak a provider's protocol, and a context in which models are asked."""

from collections.abc import AsyncIterator

import pytest

from retinue.kit.context import Context
from tests.adapters.llm_server import ProviderServer, provider_server
from tests.client import Api
from tests.factories.people import People


@pytest.fixture
async def second() -> AsyncIterator[ProviderServer]:
    async with provider_server() as server:
        yield server


@pytest.fixture
async def ctx(people: People, admin: Api) -> AsyncIterator[Context]:
    """The instance itself at work in the administrator's tenant."""
    async with people.context(admin.user.tenant_id) as made:
        yield made
