"""One turn on three processes, as a receiver of OTLP sees it.

One server begins the turn, the other takes the approval, the worker resumes and exports.
"""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.tracing import names
from retinue.traces.directory import REFRESH_SECONDS
from tests.adapters.llm_server import provider_server
from tests.e2e.cluster import cluster
from tests.e2e.crashing import sign_in
from tests.e2e.traced_desk import PATIENCE_S, SPANS, approve, ask_the_desk, set_up_desk
from tests.factories.knowledge import EMBEDDING_MODEL
from tests.tools.servers.rest_api import rest_api
from tests.traces.exporting import EXPORTERS
from tests.traces.otlp_receiver import OtlpCollector, attributes_of, otlp_collector


async def _spans_of(collector: OtlpCollector, trace_id: str, last: str) -> list[Any]:
    """Return the spans of the trace once `last` has arrived."""
    for _ in range(PATIENCE_S * 10):
        spans = [span for span in collector.spans if span.trace_id.hex() == trace_id]
        if last in {span.name for span in spans}:
            return spans
        await asyncio.sleep(0.1)
    raise AssertionError(f"{last} is missing in {collector.names}; asked {collector.asked} times")


@pytest.mark.campaign
async def test_a_turn_on_three_processes_is_one_trace(tmp_path: Path, database_url: str) -> None:
    async with (
        otlp_collector() as collector,
        provider_server() as provider,
        rest_api() as remote,
        cluster(
            tmp_path, database_url, servers=2, workers=1, RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL
        ) as running,
    ):
        running.token = await sign_in(running.servers[0].port)
        await running.made(EXPORTERS, {"name": "Test", "endpoint": collector.url})
        agent, helper = await set_up_desk(running, provider.url, remote.url)
        # So long until every process knows the exporter.
        await asyncio.sleep(REFRESH_SECONDS + 1)
        trace_id, approval_id = await ask_the_desk(running, provider, agent, helper)
        # The receiver is away while the worker wants to send the first part.
        collector.is_down = True
        await approve(running, approval_id)
        await asyncio.sleep(2)
        collector.is_down = False
        everything = await _spans_of(collector, trace_id, "approval refund")
    # Besides the turn, jobs that tell people about the approval.
    spans = [span for span in everything if not span.name.startswith("job ")]

    assert Counter(re.sub("kb_.*", "knowledge", span.name) for span in spans) == SPANS
    assert len({span.span_id for span in spans}) == len(spans)
    by_id = {span.span_id: span for span in spans}
    roots = [span for span in spans if span.parent_span_id not in by_id]
    assert [(span.name, span.parent_span_id) for span in roots] == [("invoke_agent Desk", b"")]
    for span in spans:
        assert span.start_time_unix_nano < span.end_time_unix_nano
        if span.parent_span_id and span.name not in ("invoke_agent Desk", "approval refund"):
            outer = by_id[span.parent_span_id]
            assert outer.start_time_unix_nano <= span.start_time_unix_nano
            assert span.end_time_unix_nano <= outer.end_time_unix_nano
    failed = {span.name for span in spans if span.status.code == 2}
    assert failed == {"chat dead-model"}
    (wait,) = [span for span in spans if span.name == "approval refund"]
    assert attributes_of(wait)[names.APPROVAL_OUTCOME] == "approved"
