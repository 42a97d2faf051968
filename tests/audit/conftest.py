import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories import credentials
from tests.factories.people import People


@pytest.fixture
async def owner(people: People) -> Api:
    """Somebody whose tenant has a few rows."""
    api = await people.signed_in(Role.tenant_admin, await people.tenant("Audited"))
    for number in range(4):
        await credentials.create(api, name=f"Credential {number}")
    return api
