"""`retinue serve --processes N` as a process, and clients with kept connections that record what failed."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.commands import Ran, run_command
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess, launch_process

PATIENCE_S = 180
# Between two requests of a client, so that the processes under test get some of the machine.
PAUSE_S = 0.02


def children_of(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(child) for thread in threads for child in thread.read_text().split()]
    except OSError:
        return []


class SupervisedServer(ServerProcess):
    """`workers` are the processes that serve; below the supervisor there are only fork servers."""

    def __init__(self, folder: Path, database_url: str = "", *, processes: int = 2, **env: str) -> None:
        super().__init__(folder, database_url, RETINUE_PROCESSES=str(processes), **env)
        self.folder = folder
        self.processes = processes

    @property
    def pids(self) -> list[int]:
        return self.workers

    @property
    def workers(self) -> list[int]:
        assert self.process is not None
        return [pid for fork_server in children_of(self.process.pid) for pid in children_of(fork_server)]

    async def start(self) -> None:
        """Wait for all processes, with more patience than for one: an interpreter starts twice."""
        self.process = await launch_process(
            self._log, self.env, "-m", "retinue.cli", "serve", "--port", str(self.port)
        )
        await self.all_alive()

    async def all_alive(self) -> None:
        """Wait until every slot has a process that serves."""
        assert self.process is not None
        async with asyncio.timeout(PATIENCE_S):
            while True:
                assert self.process.returncode is None, self.log[-4000:]
                with suppress(*Unreachable):
                    status, health = await call(self.port, "GET", "/health")
                    assert status == 200, health
                    if health["processes"] == {"expected": self.processes, "alive": self.processes}:
                        return
                await asyncio.sleep(0.02)

    def kill_worker(self, number: int) -> int:
        """Kill one of the processes that serve; return its pid."""
        pid = sorted(self.workers)[number % self.processes]
        os.kill(pid, signal.SIGKILL)
        return pid

    async def reload(self) -> Ran:
        """Run `retinue reload`, which returns when every process is replaced."""
        return await run_command(self, "reload")

    async def end_of(self, *pids: int) -> None:
        """Wait until these processes are gone."""
        async with asyncio.timeout(PATIENCE_S):
            while any(Path(f"/proc/{pid}").exists() for pid in pids):
                await asyncio.sleep(0.02)


@dataclass
class LoadResult:
    acknowledged: set[str] = field(default_factory=set)
    answered: int = 0
    refused: list[str] = field(default_factory=list)
    """Connections that were not accepted."""
    cut: list[str] = field(default_factory=list)
    """Requests without a whole answer."""
    wrong: list[tuple[int, Any]] = field(default_factory=list)
    """Answers that were not a success."""


class KeptConnection:
    """One connection with one request after the other; it is opened again when the server closes it."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = json.dumps(body).encode() if body is not None else b""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self._token}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"] if content else []
        try:
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            answer = await reader.readexactly(length)
        except BaseException:
            self.close()
            raise
        if b"connection: close" in head:
            self.close()
        return int(head.split()[1]), json.loads(answer)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class KeptLoad:
    """Clients that alternately write rows and read a list until told to stop."""

    def __init__(self, port: int, token: str, table_id: str, clients: int) -> None:
        self.result = LoadResult()
        self._port, self._token = port, token
        self._path = f"/api/v1/data-tables/{table_id}/rows"
        self._clients = clients
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._work(number)) for number in range(self._clients)]

    async def at_least(self, answers: int) -> None:
        """Wait for this many more answers."""
        wanted = self.result.answered + answers
        async with asyncio.timeout(PATIENCE_S):
            while self.result.answered < wanted:
                await asyncio.sleep(0.02)

    async def finish(self) -> LoadResult:
        self._stop.set()
        await asyncio.gather(*self._tasks)
        return self.result

    async def _work(self, client: int) -> None:
        connection, number = KeptConnection(self._port, self._token), 0
        while not self._stop.is_set():
            number += 1
            try:
                if number % 2:
                    body = {"title": f"Row {client}-{number}"}
                    status, answer = await connection.send("POST", self._path, body)
                else:
                    status, answer = await connection.send("GET", f"{self._path}?per_page=1")
            except ConnectionRefusedError as error:
                self.result.refused.append(repr(error))
                continue
            except (OSError, asyncio.IncompleteReadError) as error:
                self.result.cut.append(repr(error))
                continue
            self.result.answered += 1
            await asyncio.sleep(PAUSE_S)
            if status == 201:
                self.result.acknowledged.add(answer["data"]["id"])
            elif status != 200:
                self.result.wrong.append((status, answer))
        connection.close()


async def stored_rows(port: int, token: str, table_id: str) -> set[str]:
    """The ids of all rows of a table, page by page."""
    found: set[str] = set()
    page = 1
    while True:
        path = f"/api/v1/data-tables/{table_id}/rows?per_page=100&page={page}"
        status, answer = await call(port, "GET", path, token=token)
        assert status == 200, answer
        found |= {row["id"] for row in answer["data"]}
        if len(answer["data"]) < 100:
            return found
        page += 1
