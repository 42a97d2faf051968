"""Tests of liveness, readiness and the metrics endpoint."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.secrets import Secret
from tests.client import Api


async def test_a_process_that_answers_is_alive_and_ready(service: Service) -> None:
    api = Api(service)
    assert (await api.get("/health/live")).json() == {"status": "ok"}
    ready = await api.get("/health/ready")
    assert (ready.status, ready.json()) == (200, {"status": "ok", "database": "ok", "vault": "open"})


@pytest.mark.one_service("takes the database from one process")
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


async def test_metrics_are_for_who_has_the_token(make_service: Any) -> None:
    api = Api(await make_service(metrics=True, metrics_token=Secret("scrape-me")))
    for headers in ({}, {"Authorization": "Bearer other"}, {"Authorization": "Bearer "}):
        refused = await api.get("/metrics", headers=headers)
        assert (refused.status, refused.code) == (401, "unauthorized")
    answer = await api.get("/metrics", headers={"Authorization": "Bearer scrape-me"})
    assert answer.status == 200
    assert b"retinue_http_requests_total" in answer.body
