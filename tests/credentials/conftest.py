"""Nothing that these tests see or cause to be logged shows a secret, but for what is revealed on purpose."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.context import Caller, Context
from retinue.kit.principal import Principal
from retinue.kit.settings import Settings
from retinue.tenants.models import Tenant
from tests.canaries import hits
from tests.captured_logs import captured_logs
from tests.client import Api, Response
from tests.factories.credentials import CANARY
from tests.factories.people import People


@pytest.fixture(autouse=True)
def _nothing_shows_a_secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    exchange, leaks = Api._exchange, []

    async def watched(api: Api, method: str, path: str, *more: Any) -> Response:
        answer = await exchange(api, method, path, *more)
        shown = answer.body + repr(answer.raw_headers).encode()
        is_revealed = path.endswith("/reveal") and answer.status == 200
        if not is_revealed and hits(shown, [CANARY]):
            leaks.append((method, path, answer))
        return answer

    monkeypatch.setattr(Api, "_exchange", watched)
    yield
    assert leaks == []


@pytest.fixture(autouse=True)
def logged() -> Iterator[io.StringIO]:
    with captured_logs(Settings()) as written:
        yield written
    assert hits(written.getvalue().encode(), [CANARY]) == []


@pytest.fixture
async def tenant(people: People) -> Tenant:
    return await people.tenant()


@pytest.fixture
async def owner(people: People, tenant: Tenant) -> Api:
    """Administers the tenant, and may reveal."""
    return await people.signed_in(Role.tenant_admin, tenant)


@pytest.fixture
async def developer(people: People, tenant: Tenant) -> Api:
    """May write credentials, and not reveal them."""
    return await people.signed_in(Role.agent_developer, tenant)


@pytest.fixture
def context_for(service: Service) -> Callable[[Api], Context]:
    """Returns a function that makes the context of work for a person; no transaction is open."""

    def act(person: Api) -> Context:
        user = person.user
        principal = Principal(kind="user", id=user.id, tenant_id=user.tenant_id, role=user.role)
        return Context(service.instance, principal, Caller(correlation_id="cor_test"))

    return act
