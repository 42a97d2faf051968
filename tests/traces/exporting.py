"""Exporters as their owners use them."""

from typing import Any

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.traces.otlp_receiver import OtlpCollector

EXPORTERS = "/api/v1/trace-exporters"
SECRET = "CANARY-of-the-collector-4711"
Json = dict[str, Any]


async def add_exporter(api: Api, collector: OtlpCollector, **more: Any) -> Json:
    body = {"name": "Tempo", "endpoint": collector.url, "headers": {"X-Key": SECRET}, **more}
    answer = await api.post(EXPORTERS, body)
    assert answer.status == 201, answer
    made: Json = answer.json()
    return made


async def read_exporter(api: Api, exporter: Json) -> Json:
    answer = await api.get(f"{EXPORTERS}/{exporter['id']}")
    assert answer.status == 200, answer
    shown: Json = answer.json()
    return shown


async def export_due(service: Service, clock: ManualClock, seconds: float = 6) -> None:
    """Let time pass and export the traces that are due, as the schedule does every few seconds."""
    clock.advance(seconds)
    await service.runner.drain()
