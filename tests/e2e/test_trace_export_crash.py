"""Kill -9 while traces are exported: every span of a turn that was answered arrives at least once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.llm_server import provider_server
from tests.e2e.cluster import ForkedServer
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.nursery import Nursery
from tests.factories.agents import agent_body
from tests.traces.exporting import EXPORTERS
from tests.traces.otlp_receiver import OtlpCollector, otlp_collector

PATIENCE_S = 60
PLACES = ("before_trace_send", "after_trace_send")


async def _ask(server: ForkedServer, token: str, agent_id: str) -> str:
    """Ask until the server answers; return the id of the trace."""
    path = f"/api/v1/agents/{agent_id}/chat"
    while True:
        try:
            status, answer = await call(server.port, "POST", path, token=token, body={"message": "Hello"})
        except Unreachable:
            await asyncio.sleep(0.05)
            continue
        assert status == 200, answer
        return str(answer["trace_id"])


async def _made(server: ForkedServer, token: str, path: str, body: Any) -> Any:
    status, made = await call(server.port, "POST", path, token=token, body=body)
    assert status == 201, made
    return made.get("data", made)


def _arrived(collector: OtlpCollector) -> set[str]:
    return {span.trace_id.hex() for span in collector.spans if span.name.startswith("invoke_agent")}


@pytest.mark.slow
@pytest.mark.parametrize("owner", ["tenant", "operator"])
async def test_every_span_arrives_whenever_the_worker_dies(
    tmp_path: Path, database_url: str, owner: str
) -> None:
    async with Nursery(tmp_path) as nursery, otlp_collector() as collector, provider_server() as provider:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url} if owner == "operator" else {}
        server = ForkedServer(nursery, tmp_path, database_url, **settings)
        await server.start()
        token = await sign_in(server.port)
        key = {
            "name": "Test",
            "provider": "openai_compatible",
            "api_key": "sk-test-key-of-the-crash",
            "base_url": provider.url,
            "models": ["test-model"],
        }
        await _made(server, token, "/api/v1/api-keys", key)
        body = agent_body(primary_model="openai_compatible/test-model", status="published")
        agent = await _made(server, token, "/api/v1/agents", body)
        if owner == "tenant":
            await _made(server, token, EXPORTERS, {"name": "Test", "endpoint": collector.url})
        asked = set()
        for place in PLACES:
            assert await server.stop() == 0
            await server.launch(RETINUE_FAILPOINTS=f"{place}:kill")
            provider.says("Hi.")
            asked.add(await _ask(server, token, agent["id"]))
            assert await server.ended(PATIENCE_S)
            await server.start()
            async with asyncio.timeout(PATIENCE_S):
                while not asked <= _arrived(collector):
                    await asyncio.sleep(0.1)
        assert await server.stop() == 0
