"""Tests of exported spans of a real turn: content only if the exporter wants it and the agent logs it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.tracing import names
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.canaries import hits
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.providers import add_key_for
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import rest_api
from tests.traces.exporting import add_exporter, export_due
from tests.traces.otlp_receiver import OtlpCollector, attributes_of

Json = dict[str, Any]
QUESTION, ANSWER, CITY = "Where does the KESTREL nest?", "In the OLD-TOWER.", "Graz-of-the-canary"
CONTENT = {
    names.INPUT_MESSAGES,
    names.OUTPUT_MESSAGES,
    names.TOOL_CALL_ARGUMENTS,
    names.TOOL_CALL_RESULT,
}


pytestmark = pytest.mark.one_service("other processes know a new exporter after seconds of real time")


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> AsyncIterator[Json]:
    """Uses a tool and answers."""
    await add_key_for(admin, provider, models=["test-model"])
    made = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
    async with rest_api() as remote:
        tool = await make_tool(
            admin,
            remote.url,
            description="Tells the weather of a city.",
            input_schema={"type": "object", "properties": {"city": {"type": "string"}}},
        )
        await attach_tool(admin, made, tool)
        yield made


ExportTurn = Callable[[], Awaitable[dict[str, Json]]]


@pytest.fixture
async def export_turn(
    admin: Api,
    agent: Json,
    provider: ProviderServer,
    collector: OtlpCollector,
    service: Service,
    clock: ManualClock,
) -> ExportTurn:
    """Have a turn with a tool and return the attributes of its exported spans, by name."""
    await service.runner.drain()

    async def export() -> dict[str, Json]:
        provider.says("", Call("weather", f'{{"city": "{CITY}"}}', "call_1"))
        provider.says(ANSWER)
        reply = await reply_to(admin, agent, QUESTION)
        await export_due(service, clock)
        spans = [span for span in collector.spans if span.trace_id.hex() == reply["trace_id"]]
        return {span.name: attributes_of(span) for span in spans}

    return export


async def test_spans_have_no_content_unless_the_exporter_wants_it(
    admin: Api, agent: Json, collector: OtlpCollector, export_turn: ExportTurn
) -> None:
    await add_exporter(admin, collector)
    spans = await export_turn()
    turn = spans[f"invoke_agent {agent['name']}"]
    assert turn[names.OPERATION] == "invoke_agent"
    assert any(name.startswith("execute_tool") for name in spans)
    assert not any(CONTENT & attributes.keys() for attributes in spans.values())
    assert hits(b"".join(one.raw for one in collector.accepted), [QUESTION, ANSWER, CITY]) == []


async def test_an_exporter_that_wants_content_gets_it_as_it_is_stored(
    admin: Api, agent: Json, collector: OtlpCollector, export_turn: ExportTurn
) -> None:
    await add_exporter(admin, collector, include_content=True)
    spans = await export_turn()
    turn = spans[f"invoke_agent {agent['name']}"]
    (asked,) = msgspec.json.decode(turn[names.INPUT_MESSAGES])
    (answered,) = msgspec.json.decode(turn[names.OUTPUT_MESSAGES])
    assert asked == {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    assert answered == {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}
    (prompt,) = msgspec.json.decode(turn[names.SYSTEM_INSTRUCTIONS])
    assert prompt == {"type": "text", "content": agent["system_prompt"]}
    (tool,) = [attributes for name, attributes in spans.items() if name.startswith("execute_tool")]
    assert msgspec.json.decode(tool[names.TOOL_CALL_ARGUMENTS])["city"] == CITY
    assert "status_code" in tool[names.TOOL_CALL_RESULT]


async def test_what_the_agent_does_not_log_is_not_exported(
    admin: Api, agent: Json, collector: OtlpCollector, export_turn: ExportTurn
) -> None:
    await add_exporter(admin, collector, include_content=True)
    settings = f"/api/v1/agents/{agent['id']}/log-settings"
    assert (await admin.put(settings, {"log_messages": False})).status == 200
    spans = await export_turn()
    assert spans
    assert not any(CONTENT & attributes.keys() for attributes in spans.values())
    assert hits(b"".join(one.raw for one in collector.accepted), [QUESTION, ANSWER, CITY]) == []
