"""A person who may write forms."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.client import Api


@pytest.fixture
async def person(people: Any) -> Api:
    return await people.signed_in(Role.agent_developer)
