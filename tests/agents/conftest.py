from collections.abc import AsyncIterator

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.factories.people import People
from tests.tools.servers.rest_api import RestApi, rest_api


@pytest.fixture
async def developer(people: People) -> Api:
    """Somebody who creates agents and tools, and may not read secrets."""
    return await people.signed_in(Role.agent_developer)


@pytest.fixture
async def remote() -> AsyncIterator[RestApi]:
    """An API somewhere else."""
    async with rest_api() as api:
        yield api


@pytest.fixture
async def elsewhere() -> AsyncIterator[RestApi]:
    """Another API, which gets secrets only if somebody entitled allowed it."""
    async with rest_api() as api:
        yield api


@pytest.fixture
async def other_process(service: Service, clock: ManualClock) -> AsyncIterator[Service]:
    """Another process of the instance: only the database connects the two."""
    other = Service(service.settings, clock)
    await other.start()
    yield other
    await other.stop()
