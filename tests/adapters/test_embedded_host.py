"""The process of a model: crashes, hangs, idleness, taking turns, and what it must never get."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from retinue.adapters.embedded.chat import EmbeddedChat
from retinue.adapters.embedded.frames import MAX_FRAME_BYTES
from retinue.adapters.embedded.host import Capability, ModelHost
from retinue.adapters.embedded.weights import CHAT_WEIGHTS, EMBEDDING_WEIGHTS
from retinue.adapters.llm import ChatRequest, ModelError, ModelMessage, ModelTimeout
from tests.factories.weights import fetch_weights

pytestmark = pytest.mark.slow

STORY = ChatRequest(
    model="any", messages=(ModelMessage(role="user", content="Tell me a very long story."),), max_tokens=2000
)


@pytest.fixture
async def make_host() -> AsyncIterator:
    """Hosts of the embedding model, which loads fastest."""
    made: list[ModelHost] = []

    def make(**changed) -> ModelHost:
        folder = str(fetch_weights() / EMBEDDING_WEIGHTS.model)
        options = changed.pop("options", {"folder": folder, "readable": [folder]})
        chosen = {"name": "test", "program": "retinue.adapters.embedded.minilm", **changed}
        made.append(ModelHost(Capability(**chosen), lambda: options))
        return made[-1]

    yield make
    for host in made:
        await host.close()


@pytest.fixture(scope="module")
async def chat() -> AsyncIterator[EmbeddedChat]:
    made = EmbeddedChat(fetch_weights() / CHAT_WEIGHTS.model / CHAT_WEIGHTS.files[0].name, context=512)
    yield made
    await made.host.close()


async def embed_texts(host: ModelHost, texts: list[str]) -> int:
    """Embed many texts; return their number."""
    async with aclosing(host.stream("embed", texts)) as parts:
        return len([part async for part in parts])


async def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that somebody else reaps."""
    async with asyncio.timeout(10):
        while Path(f"/proc/{pid}").exists():
            await asyncio.sleep(0.01)


async def test_nothing_runs_before_the_first_call_and_what_is_too_large_is_refused(make_host) -> None:
    host = make_host()
    assert host.pid is None
    vector, tokens = await host.ask("embed", ["hello"])
    assert (len(vector), tokens) == (4 * 384, 3)
    assert host.pid is not None
    with pytest.raises(ModelError, match="too large") as caught:
        await host.ask("embed", ["x" * MAX_FRAME_BYTES])
    assert caught.value.kind == "invalid_request"
    assert await host.ask("embed", ["hello"])


async def test_a_killed_process_ends_its_call_and_the_next_one_works(chat) -> None:
    async with aclosing(chat.stream(STORY)) as deltas:
        assert (await anext(deltas)).text
        os.kill(chat.host.pid, signal.SIGKILL)
        with pytest.raises(ModelError, match="ended unexpectedly") as caught:
            [delta async for delta in deltas]
    assert caught.value.kind == "broken_stream"
    async with aclosing(chat.stream(STORY)) as deltas:
        assert (await anext(deltas)).text


async def test_those_who_wait_do_not_notice_that_a_process_was_killed(make_host) -> None:
    host = make_host()
    await host.ask("embed", ["hello"])
    first = asyncio.create_task(embed_texts(host, ["word " * 200] * 500))
    asked = [asyncio.create_task(host.ask("embed", ["hello"])) for _ in range(3)]
    await asyncio.sleep(0)
    os.kill(host.pid, signal.SIGKILL)
    assert len(await asyncio.gather(*asked)) == 3
    with pytest.raises(ModelError, match="ended unexpectedly"):
        await first


async def test_a_process_that_hangs_is_killed_and_replaced(make_host) -> None:
    host = make_host(max_silence_s=0.5)
    await host.ask("embed", ["hello"])
    pid = host.pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ModelTimeout, match="sent nothing"):
        await host.ask("embed", ["hello"])
    await wait_until_gone(pid)
    assert await host.ask("embed", ["hello"])
    assert host.pid != pid


async def test_a_process_that_ignores_the_end_of_a_call_is_killed(make_host) -> None:
    host = make_host(max_silence_s=0.5)
    async with aclosing(host.stream("embed", ["word " * 200] * 500)) as parts:
        await anext(parts)
        pid = host.pid
        os.kill(pid, signal.SIGSTOP)
    await wait_until_gone(pid)


async def test_who_hangs_up_stops_the_model(chat) -> None:
    """Two thousand tokens would take half a minute; the child says within a few that it has stopped."""
    async with aclosing(chat.stream(STORY)) as deltas:
        await anext(deltas)
        calls = chat.host._child._calls
        assert calls
    async with asyncio.timeout(5):
        while calls:
            await asyncio.sleep(0.01)
    assert chat.host.pid


async def test_a_caller_who_is_cancelled_frees_the_place(make_host) -> None:
    host = make_host()
    await host.ask("embed", ["hello"])
    asked = [asyncio.create_task(embed_texts(host, ["word " * 200] * 500)) for _ in range(3)]
    await asyncio.sleep(0)
    for task in asked:
        task.cancel()
    await asyncio.wait(asked)
    async with asyncio.timeout(10):
        assert await host.ask("embed", ["hello"])


async def test_a_process_ends_when_nobody_asks_and_comes_back(make_host) -> None:
    host = make_host(idle_s=0.05)
    await host.ask("embed", ["hello"])
    pid = host._child.pid
    await wait_until_gone(pid)
    assert host.pid is None
    assert await host.ask("embed", ["hello"])


async def test_closing_ends_the_process_and_the_calls_at_work(make_host) -> None:
    host = make_host()
    await host.ask("embed", ["hello"])
    pid, work = host.pid, asyncio.create_task(embed_texts(host, ["word " * 200] * 500))
    await asyncio.sleep(0)
    folder = Path(f"/proc/{pid}/cwd").readlink()
    assert (folder.stat().st_mode & 0o777, list(folder.iterdir())) == (0o700, [])
    await host.close()
    assert not Path(f"/proc/{pid}").exists()
    assert not folder.exists()
    with pytest.raises(ModelError):
        await work
    with pytest.raises(ModelError, match="stopping"):
        await host.ask("embed", ["hello"])


async def test_a_process_inherits_no_secret_and_no_descriptor(make_host, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RETINUE_MASTER_KEY", "CANARY-0123456789")
    secret = (tmp_path / "master.key").open("w+")
    os.set_inheritable(secret.fileno(), True)
    host = make_host()
    await host.ask("embed", ["hello"])
    process = Path(f"/proc/{host.pid}")
    assert process.joinpath("environ").read_bytes() == b""
    opened = {link.readlink().name for link in process.joinpath("fd").iterdir()}
    assert "master.key" not in opened
    secret.close()


def test_a_locked_process_reads_nothing_of_ours_and_reaches_nobody(tmp_path) -> None:
    secret, weights = tmp_path / "master.key", tmp_path / "weights"
    secret.write_text("CANARY")
    weights.mkdir()
    (weights / "w").write_text("weights")
    script = f"""
import socket
from retinue.adapters.embedded.child import _lock_down
_lock_down({{"readable": [{str(weights)!r}]}})
def tried(attempt):
    try:
        attempt()
    except PermissionError:
        return "denied"
    return "allowed"
print(
    tried(lambda: open({str(weights / "w")!r})),
    tried(lambda: open({str(secret)!r})),
    tried(lambda: open("/etc/passwd")),
    tried(lambda: open({str(weights / "new")!r}, "w")),
    tried(lambda: socket.socket().bind(("127.0.0.1", 0))),
)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["allowed", "denied", "denied", "denied", "denied"]


async def test_the_chat_process_listens_at_no_address(chat) -> None:
    async with aclosing(chat.stream(STORY)) as deltas:
        await anext(deltas)
        sockets = {str(link.readlink()) for link in Path(f"/proc/{chat.host.pid}/fd").iterdir()}
        for table in ("tcp", "tcp6", "udp", "udp6"):
            rows = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
            assert not sockets & {f"socket:[{row.split()[9]}]" for row in rows}


async def test_a_process_dies_with_its_server_and_the_next_one_tidies_up(make_host) -> None:
    script = f"""
import asyncio, os
from retinue.adapters.embedded.host import Capability, ModelHost
folder = {str(fetch_weights() / EMBEDDING_WEIGHTS.model)!r}
async def main():
    capability = Capability(name="test", program="retinue.adapters.embedded.minilm")
    host = ModelHost(capability, lambda: {{"folder": folder}})
    await host.ask("embed", ["hello"])
    print(host.pid, os.readlink(f"/proc/{{host.pid}}/cwd"), flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
    told, _ = await server.communicate()
    pid, folder = told.decode().split()
    await wait_until_gone(int(pid))
    assert Path(folder).exists()
    await make_host().ask("embed", ["hello"])
    assert not Path(folder).exists()


async def test_weights_that_are_none_are_told(tmp_path) -> None:
    garbage = tmp_path / "garbage.gguf"
    garbage.write_bytes(b"GGUF" + bytes(1000))
    chat = EmbeddedChat(garbage)
    with pytest.raises(ModelError, match="could not be loaded"):
        [delta async for delta in chat.stream(STORY)]
    await chat.host.close()
