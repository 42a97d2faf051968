"""People who decide, and the companies that carry their mails, on loopback."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.approvals.models import Approval
from tests.client import Api
from tests.factories.approvals import some_approval
from tests.factories.people import People
from tests.notifications.conftest import companies

__all__ = ["companies"]

Ask = Callable[..., Awaitable[Approval]]


@pytest.fixture
async def requester(people: People) -> Api:
    return await people.signed_in(Role.agent_user)


@pytest.fixture
async def boss(people: People) -> Api:
    return await people.signed_in(Role.agent_user)


@pytest.fixture
def ask(people: People, requester: Api, boss: Api) -> Ask:
    """Returns a function that creates an approval: the requester asks, the boss decides by default."""

    async def make(*approvers: str, **more: Any) -> Approval:
        async with people.context(requester.user.tenant_id) as ctx:
            return await some_approval(ctx, requester.user.id, *(approvers or (boss.user.id,)), **more)

    return make
