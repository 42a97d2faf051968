from collections.abc import AsyncIterator

import pytest

from tests.adapters.conftest import mysql_shop, postgresql_shop
from tests.client import Api
from tests.factories.people import People
from tests.tools.running import Tools
from tests.tools.servers.rest_api import RestApi, rest_api

__all__ = ["mysql_shop", "postgresql_shop"]


@pytest.fixture
def tools(admin: Api, people: People) -> Tools:
    return Tools(admin, people)


@pytest.fixture
async def remote() -> AsyncIterator[RestApi]:
    """An API somewhere else."""
    async with rest_api() as api:
        yield api
