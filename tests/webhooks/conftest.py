from collections.abc import AsyncIterator

import pytest

from retinue.app import Service
from tests.client import Api
from tests.factories.people import People
from tests.webhooks.hooks import Hooks
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def hooks(service: Service, people: People, admin: Api, receiver: Receiver) -> AsyncIterator[Hooks]:
    hooks = Hooks(service, people, admin, receiver)
    yield hooks
    if hooks.service is not service:
        await hooks.service.stop()
