"""Kill -9 while an agent is trained: what was accepted is indexed in the end, and nothing of it twice."""

import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.kit.context import Caller, Context
from retinue.kit.events.models import EventEntry
from retinue.kit.principal import SYSTEM
from retinue.kit.setting_loader import load_settings
from retinue.knowledge.models import Chunk, Document
from retinue.wiring import close_instance, open_instance, server_settings
from tests.adapters.llm_server import KEY, provider_server
from tests.e2e.crashing import sign_in
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess
from tests.factories.agents import agent_body
from tests.factories.knowledge import EMBEDDING_MODEL, form

pytestmark = pytest.mark.slow

PATIENCE_S = 60
PARTS = 200
HEADERS = {"Content-Type": "multipart/form-data; boundary=XXtestXX"}


def document(number: int) -> tuple[str, bytes]:
    parts = [
        f"## Part {part}\n\nPart {part} of book {number} has the code XK-{number}{part:03}."
        for part in range(PARTS)
    ]
    return f"book-{number}.md", "\n\n".join(parts).encode()


async def start_training(server: ServerProcess, token: str, provider_url: str) -> str:
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": f"{provider_url}/v1"}
    status, answer = await call(server.port, "POST", "/api/v1/api-keys", token=token, body=key)
    assert status == 201, answer
    status, agent = await call(server.port, "POST", "/api/v1/agents", token=token, body=agent_body())
    assert status == 201, agent
    path = f"/api/v1/agents/{agent['id']}/train"
    books = form([document(number) for number in range(3)])
    status, answer = await call(server.port, "POST", path, token=token, headers=HEADERS, form=books)
    assert (status, answer["document_count"]) == (200, 3), answer
    return str(agent["id"])


async def wait_until_trained(server: ServerProcess, token: str, agent_id: str) -> dict[str, Any]:
    for _ in range(PATIENCE_S * 10):
        _, answer = await call(server.port, "GET", f"/api/v1/agents/{agent_id}/status", token=token)
        if answer["training"]["status"] != "training":
            return dict(answer["training"])
        await asyncio.sleep(0.1)
    raise AssertionError(f"still training:\n{server.log[-4000:]}")


async def read_stored(server: ServerProcess) -> tuple[list[Document], list[Chunk], list[EventEntry]]:
    settings, _ = load_settings({**server.env, "RETINUE_WORKER": "off"})
    instance = await open_instance(server_settings(settings, [("127.0.0.1", server.port)]))
    try:
        async with Context(instance, SYSTEM, Caller(correlation_id="cor_test")) as ctx:
            system = ctx.system("the checker looks at everything")
            ended = await system.all(EventEntry, type="system.training.completed")
            return await system.all(Document), await system.all(Chunk), ended
    finally:
        await close_instance(instance)


@pytest.mark.parametrize(
    "killed_at",
    [
        "after_chunks:5",
        pytest.param("after_chunks:1", marks=pytest.mark.slow),
        pytest.param("before_commit:9", marks=pytest.mark.slow),
    ],
)
async def test_training_goes_on_after_a_kill_and_nothing_is_written_twice(
    tmp_path: Path, database_url: str, killed_at: str
) -> None:
    async with (
        provider_server() as provider,
        ServerProcess(tmp_path, database_url, RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL) as server,
    ):
        server.env["RETINUE_WORKER"] = "off"
        await server.start()
        token = await sign_in(server.port)
        agent_id = await start_training(server, token, provider.url)
        await server.stop()
        server.env.pop("RETINUE_WORKER")
        server.env["RETINUE_FAILPOINTS"] = f"{killed_at}:kill"
        # It may be gone before it was heard of.
        with contextlib.suppress(AssertionError):
            await server.start()
        assert server.process is not None
        assert await asyncio.wait_for(server.process.wait(), PATIENCE_S) == -9
        server.env.pop("RETINUE_FAILPOINTS")
        await server.start()
        training = await wait_until_trained(server, await sign_in(server.port), agent_id)
        assert (training["status"], training["documents_done"]) == ("completed", 3)
        await server.stop()
        documents, chunks, ended = await read_stored(server)
    assert len(ended) == 1
    texts = Counter(chunk.text for chunk in chunks)
    assert len(texts) == 3 * PARTS
    assert set(texts.values()) == {1}
    for one in documents:
        assert (one.status, one.chunk_count, one.building) == ("indexed", PARTS, None)
