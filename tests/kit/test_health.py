"""Liveness and readiness are different questions."""

from retinue.app import Service
from retinue.kit.db.errors import DatabaseUnavailable
from tests.client import Api


async def test_a_process_that_answers_is_alive_and_ready(service: Service) -> None:
    api = Api(service)
    assert (await api.get("/health/live")).json() == {"status": "ok"}
    ready = await api.get("/health/ready")
    assert (ready.status, ready.json()) == (200, {"status": "ok", "database": "ok", "vault": "open"})


async def test_without_its_database_it_is_alive_but_not_ready(service: Service, monkeypatch) -> None:
    async def away() -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(service.instance.database, "ping", away)
    api = Api(service)
    assert (await api.get("/health/live")).status == 200
    ready = await api.get("/health/ready")
    assert (ready.status, ready.json()["database"]) == (503, "unavailable")
    assert (await api.get("/health")).status == 503


async def test_a_server_that_stops_is_not_ready(service: Service) -> None:
    service.instance.shutting_down.set()
    ready = await Api(service).get("/health/ready")
    assert (ready.status, ready.json()["status"]) == (503, "stopping")
