import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories.people import People


@pytest.fixture
async def owner(people: People) -> Api:
    """The administrator of a tenant of its own."""
    return await people.signed_in(Role.tenant_admin, await people.tenant("Traced"))
