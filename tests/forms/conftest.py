"""A person who may write forms, and the counterparts of notifications."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.notifications.conftest import companies, mail_server

__all__ = ["companies", "mail_server", "person"]


@pytest.fixture
async def person(people: Any) -> Api:
    return await people.signed_in(Role.agent_developer)
