import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.knowledge import EMBEDDING_MODEL, School
from tests.factories.people import People


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


@pytest.fixture
def school(service: Service, provider: ProviderServer) -> School:
    return School(service, provider)


@pytest.fixture
async def person(people: People) -> Api:
    return await people.signed_in(Role.tenant_admin)
