"""A person who may write tables, and a table with a column of every type."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.client import Api
from tests.tables.tables import Tables


@pytest.fixture
async def person(people: Any) -> Api:
    return await people.signed_in(Role.agent_developer)


@pytest.fixture
def tables(service: Service, person: Api) -> Tables:
    return Tables(service, person)
