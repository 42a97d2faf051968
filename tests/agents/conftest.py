from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.knowledge import School
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


@pytest.fixture
async def person(people: People) -> Api:
    return await people.signed_in(Role.tenant_admin)


@pytest.fixture
async def school(service: Service, provider: ProviderServer) -> School:
    """Teaches agents documents; the service of the test says with which model."""
    return School(service, provider)


@pytest.fixture
async def agent(school: School, person: Api) -> dict[str, Any]:
    """An agent that learns from documents."""
    return await school.admit(person)
