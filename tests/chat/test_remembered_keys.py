"""Keys of providers are remembered between turns, and yet one that was switched off is not asked again."""

import pytest

from retinue.app import Service
from tests.client import Api
from tests.factories.providers import PATH

pytestmark = pytest.mark.one_service


async def test_a_key_that_another_process_switched_off_is_not_asked(
    admin, service, clock, agent, provider
) -> None:
    beside = Service(service.settings, clock)
    await beside.start()
    try:
        there, path = Api(beside, token=admin.token), f"/api/v1/agents/{agent['id']}/chat"
        for _ in range(3):
            assert (await there.post(path, {"message": "Hello"})).status == 200
        asked = len(provider.requests)
        (key,) = (await admin.get(PATH)).json()["data"]
        assert (await admin.put(f"{PATH}/{key['id']}", {"is_active": False})).status == 200
        await there.post(path, {"message": "Hello"})
        assert len(provider.requests) == asked
        assert (await admin.put(f"{PATH}/{key['id']}", {"is_active": True})).status == 200
        assert (await there.post(path, {"message": "Hello"})).status == 200
        assert len(provider.requests) == asked + 1
    finally:
        await beside.stop()
