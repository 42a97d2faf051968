"""What several processes cost: CPU per request, balance over 64 connections, and memory, for N = 1, 2 and 4.

`python -m bench.processes 4000` measures by itself.
"""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from bench.figures import Figure, tell
from bench.load import drive, request_bytes
from bench.requests import call, environment, lift_limits
from bench.servers import cpu_seconds, free_port

COUNTS = (1, 2, 4)
PATH = "/api/v1/data-tables"
CONNECTIONS = 64
REQUESTS = 4000
ROUNDS = 5
MAX_CPU_RATIO = 1.1
MAX_BUSIEST_PERCENT = 60
MAX_MEMORY_RATIO = 2.2
MIN_THROUGHPUT_RATIO = 1.6
"""Of two processes with a core each. Counted by CPU, because here the load takes its share of the cores."""
_PATIENCE_S = 240
_REST_S = 10


class Processes:
    """`retinue serve --processes N` and everything below it."""

    def __init__(self, count: int, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.count = count
        self.port = port
        self.token = ""
        self._process = process

    @property
    def workers(self) -> list[int]:
        """The processes that serve."""
        if self.count == 1:
            return [self._process.pid]
        return [pid for fork_server in _children(self._process.pid) for pid in _children(fork_server)]

    @property
    def all(self) -> list[int]:
        if self.count == 1:
            return [self._process.pid]
        return [self._process.pid, *_children(self._process.pid), *self.workers]

    def memory_mb(self) -> float:
        """What it is shared by is divided among those who share it."""
        return sum(_own_share(pid) for pid in self.all)

    def wait(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as answer:
                    health = msgspec.json.decode(answer.read())
            except OSError:
                time.sleep(0.05)
                continue
            if self.count == 1 or health["processes"]["alive"] == self.count:
                return
        raise RuntimeError("the server did not start")

    async def measure(self, method: str, path: str, count: int, body: bytes = b"") -> tuple[float, float]:
        """CPU microseconds of all processes per request, and the share of the busiest in percent."""
        request = request_bytes(method, path, token=self.token, body=body)
        before = {pid: cpu_seconds(pid) for pid in self.all}
        bad = await drive(self.port, request, count, CONNECTIONS)
        if bad:
            raise RuntimeError(f"{method} {path}: {bad} of {count} requests failed")
        used = {pid: cpu_seconds(pid) - seconds for pid, seconds in before.items()}
        busy = [used[pid] for pid in self.workers]
        return sum(used.values()) / count * 1e6, max(busy) / sum(busy) * 100

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


def _own_share(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


@asynccontextmanager
async def serving(count: int, url: str) -> AsyncIterator[Processes]:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **environment(folder, url), "RETINUE_PROCESSES": str(count)}
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "retinue.cli", "serve", "--port", str(port)],
            env=env,
            stdout=subprocess.DEVNULL,
        )
        server = Processes(count, process, port)
        try:
            server.wait()
            await _sign_in(server)
            yield server
        finally:
            server.stop()


async def _sign_in(server: Processes) -> None:
    credentials = {"email": "admin@example.com", "password": environment("", "")["RETINUE_ADMIN_PASSWORD"]}
    answer = await call(server.port, "POST", "/auth/login", msgspec.json.encode(credentials))
    server.token = str(answer["access_token"])
    await lift_limits(server, server.token)


async def measure(url: str, requests: int = REQUESTS) -> list[Figure]:
    memory = [await _rest(count, url) for count in COUNTS]
    cpu: dict[int, list[float]] = {count: [] for count in COUNTS}
    busiest: dict[int, list[float]] = {count: [] for count in COUNTS}
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serving(count, url)) for count in COUNTS]
        for server in servers:
            await server.measure("GET", PATH, requests // 4)
        # By turns, so that a busy machine disturbs all of them alike.
        for _ in range(ROUNDS):
            for server in servers:
                used, share = await server.measure("GET", PATH, requests)
                cpu[server.count].append(used)
                busiest[server.count].append(share)
    return [
        *_cpu_figures(cpu),
        *_balance_figures(busiest),
        _throughput_figure(cpu, busiest),
        *_memory_figures(memory),
    ]


async def _rest(count: int, url: str) -> float:
    """Memory at rest after some requests; alone, because servers share pages with each other as well."""
    async with serving(count, url) as server:
        await server.measure("GET", PATH, CONNECTIONS * 4)
        await asyncio.sleep(_REST_S)
        return server.memory_mb()


def _cpu_figures(cpu: dict[int, list[float]]) -> list[Figure]:
    alone = statistics.median(cpu[1])
    figures = [Figure("CPU per request with 1 process", alone, "microseconds", None)]
    for count in COUNTS[1:]:
        ratio = statistics.median(cpu[count]) / alone
        figures.append(Figure(f"CPU per request with {count} processes", ratio, "times one", MAX_CPU_RATIO))
    return figures


def _balance_figures(busiest: dict[int, list[float]]) -> list[Figure]:
    return [
        Figure(
            f"the busiest of {count} processes, {CONNECTIONS} connections",
            statistics.median(busiest[count]),
            "% of their CPU",
            MAX_BUSIEST_PERCENT,
        )
        for count in COUNTS[1:]
    ]


def _throughput_figure(cpu: dict[int, list[float]], busiest: dict[int, list[float]]) -> Figure:
    """How long the busiest process works for each request of all: the whole is done when it is."""
    shares = [used * share / 100 for used, share in zip(cpu[2], busiest[2], strict=True)]
    ratio = statistics.median(shares) / statistics.median(cpu[1])
    name = "CPU of the busiest of 2 processes per request of both"
    return Figure(name, ratio, "times one", 1 / MIN_THROUGHPUT_RATIO)


def _memory_figures(memory: list[float]) -> list[Figure]:
    alone, *others = memory
    figures = [Figure("memory with 1 process", alone, "MiB", None)]
    for count, used in zip(COUNTS[1:], others, strict=True):
        goal = MAX_MEMORY_RATIO if count == COUNTS[-1] else None
        figures.append(Figure(f"memory with {count} processes", used / alone, "times one", goal))
    return figures


if __name__ == "__main__":
    tell(measure, REQUESTS)
