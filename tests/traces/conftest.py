from collections.abc import AsyncIterator

import pytest

from retinue.access.models import Role
from tests.chat.conftest import agent, cast, desk, remote, weather
from tests.client import Api
from tests.factories.people import People
from tests.traces.otlp_receiver import OtlpCollector, otlp_collector
from tests.webhooks.conftest import hooks, receiver

__all__ = ["agent", "cast", "desk", "hooks", "receiver", "remote", "weather"]


@pytest.fixture
async def owner(people: People) -> Api:
    """The administrator of a tenant of its own."""
    return await people.signed_in(Role.tenant_admin, await people.tenant("Traced"))


@pytest.fixture
async def collector() -> AsyncIterator[OtlpCollector]:
    async with otlp_collector() as server:
        yield server
