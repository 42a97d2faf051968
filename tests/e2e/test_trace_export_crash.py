"""Kill -9 while traces are exported: every span of a turn that was answered arrives at least once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.llm_server import KEY, provider_server
from tests.e2e.cluster import ForkedServer
from tests.e2e.crashing import sign_in
from tests.e2e.load import call
from tests.e2e.nursery import Nursery
from tests.factories.agents import agent_body
from tests.traces.exporting import EXPORTERS
from tests.traces.otlp_receiver import OtlpCollector, otlp_collector

PATIENCE_S = 60
PLACES = ("before_trace_send", "after_trace_send")


async def _ask(server: ForkedServer, token: str, agent_id: str) -> str:
    """Return the id of the trace of a turn."""
    path = f"/api/v1/agents/{agent_id}/chat"
    status, answer = await call(server.port, "POST", path, token=token, body={"message": "Hello"})
    assert status == 200, answer
    return str(answer["trace_id"])


async def _create_object(server: ForkedServer, token: str, path: str, body: Any) -> Any:
    status, made = await call(server.port, "POST", path, token=token, body=body)
    assert status == 201, made
    return made.get("data", made)


def _arrived_traces(collector: OtlpCollector) -> set[str]:
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
            "provider": "openai_compatible",
            "api_key": KEY,
            "base_url": f"{provider.url}/v1",
            "models": ["test-model"],
        }
        await _create_object(server, token, "/api/v1/api-keys", key)
        body = agent_body(primary_model="openai_compatible/test-model", status="published")
        agent = await _create_object(server, token, "/api/v1/agents", body)
        if owner == "tenant":
            await _create_object(server, token, EXPORTERS, {"name": "Test", "endpoint": collector.url})
        for place in PLACES:
            # Nothing is sent before the server that dies over it.
            collector.is_down = True
            provider.says("Hi.")
            trace_id = await _ask(server, token, agent["id"])
            assert await server.stop() == 0
            collector.is_down = False
            await server.launch(RETINUE_FAILPOINTS=f"{place}:1:kill")
            assert await server.ended(PATIENCE_S)
            assert (trace_id in _arrived_traces(collector)) == (place == "after_trace_send")
            collector.accepted.clear()
            await server.start()
            async with asyncio.timeout(PATIENCE_S):
                while trace_id not in _arrived_traces(collector):
                    await asyncio.sleep(0.1)
        assert await server.stop() == 0
