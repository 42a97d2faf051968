"""Health says which sandboxes work, once someone has asked for them."""

import pytest

from retinue.adapters.sandbox import Sandbox

pytestmark = pytest.mark.either_database


@pytest.mark.one_service("each process tries its own sandboxes")
async def test_health_names_every_sandbox_and_what_is_known_of_it(service, api) -> None:
    before = (await api.get("/health")).json()["sandbox"]
    assert set(before.values()) == {"not tried yet"}
    status = await service.instance.adapters[Sandbox].status()
    shown = (await api.get("/health")).json()["sandbox"]
    assert shown == {name: "ok" if known == "ok" else "unavailable" for name, known in status.items()}
    assert status["wasm.javascript"] == "ok"
    assert set(status) == set(before)


async def test_a_service_that_stops_at_once_does_not_wait_for_the_sandboxes(make_service) -> None:
    service = await make_service()
    service.probe_sandboxes()
    await service.stop()
    assert service._probe_task.cancelled()
    await service.start()
