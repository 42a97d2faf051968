"""Arize Phoenix as the receiver of traces: what it shows through its own API is what was recorded.

It needs 830 MB of packages, which are installed into `build/phoenix` once.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retinue.traces.directory import REFRESH_SECONDS
from tests.adapters.llm_server import provider_server
from tests.e2e.cluster import cluster
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import free_port
from tests.e2e.traced_desk import SPANS, approve, ask_the_desk, set_up_desk
from tests.factories.knowledge import EMBEDDING_MODEL
from tests.tools.servers.rest_api import rest_api
from tests.traces.exporting import EXPORTERS

pytestmark = pytest.mark.slow

PATIENCE_S = 180
PACKAGES = "arize-phoenix==20.26.*"
FOLDER = Path(__file__).parents[2] / "build/phoenix"
QUERY = """{ projects { edges { node { spans(first: 500) { edges { node {
    name spanId parentId statusCode trace { traceId } } } } } } } }"""


class Phoenix:
    """The receiver, which can be killed and started again with what it has stored."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._env = {
            **os.environ,
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(self.port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        command = [FOLDER / "bin/phoenix", "serve"]
        self._process = subprocess.Popen(
            command, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await call(self.port, "POST", "/graphql", body={"query": "{ __typename }"})
                except Unreachable:
                    await asyncio.sleep(0.5)
                else:
                    return

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def spans_of(self, trace_id: str) -> list[Any]:
        _, answer = await call(self.port, "POST", "/graphql", body={"query": QUERY})
        spans = [
            span["node"]
            for project in answer["data"]["projects"]["edges"]
            for span in project["node"]["spans"]["edges"]
        ]
        return [span for span in spans if span["trace"]["traceId"] == trace_id]


@pytest.fixture
def phoenix(tmp_path: Path) -> Iterator[Phoenix]:
    if not (FOLDER / "bin/phoenix").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
        subprocess.run([FOLDER / "bin/pip", "install", "-qq", PACKAGES], check=True)
    folder = tmp_path / "phoenix"
    folder.mkdir()
    receiver = Phoenix(folder)
    yield receiver
    receiver.kill()


async def test_phoenix_shows_the_whole_turn_although_it_and_the_worker_were_killed(
    phoenix: Phoenix, tmp_path: Path, database_url: str
) -> None:
    await phoenix.start()
    async with (
        provider_server() as provider,
        rest_api() as remote,
        cluster(
            tmp_path, database_url, servers=2, workers=1, RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL
        ) as running,
    ):
        running.token = await sign_in(running.servers[0].port)
        await running.made(EXPORTERS, {"name": "Phoenix", "endpoint": f"http://127.0.0.1:{phoenix.port}"})
        agent, helper = await set_up_desk(running, provider.url, remote.url)
        await asyncio.sleep(REFRESH_SECONDS + 1)
        trace_id, approval_id = await ask_the_desk(running, provider, agent, helper)
        phoenix.kill()
        await approve(running, approval_id)
        running.workers[0].kill()
        running.workers.append(await running.servers[0].work())
        await phoenix.start()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                everything = await phoenix.spans_of(trace_id)
                spans = [span for span in everything if not span["name"].startswith("job ")]
                if len(spans) >= sum(SPANS.values()):
                    break
                await asyncio.sleep(1)
    assert Counter(re.sub("kb_.*", "knowledge", span["name"]) for span in spans) == SPANS
    ids = {span["spanId"] for span in spans}
    assert [span["name"] for span in spans if span["parentId"] not in ids] == ["invoke_agent Desk"]
    assert {span["name"] for span in spans if span["statusCode"] == "ERROR"} == {"chat dead-model"}
