"""What a submission costs beside a bare insert, and how many a second one core takes.

python -m bench.submitting [submissions]
"""

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg
import msgspec

from bench.figures import Figure, tell
from bench.load import drive, request_bytes
from bench.requests import NOTE, Scenario, Side, call, environment, sign_in
from bench.servers import Server

ROUNDS = 5
IN_INSERTS_GOAL = 2.5
CPU_GOAL_US = 1000.0
"""A thousand submissions in a second of one core."""
ON_ONE_CORE = 10_000
WARMING = 1_000
CONNECTIONS = 32
CLOCK_GOAL_MS = 1.0
"""The same by the clock, on PostgreSQL; SQLite waits for the disk at each commit."""
BACKENDS = """
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
FIELDS: list[dict[str, object]] = [
    {"id": "name", "type": "text", "label": "Name", "required": True, "validation": {"max_length": 200}},
    {"id": "email", "type": "email", "label": "E-mail", "required": True},
    {"id": "message", "type": "textarea", "label": "Message"},
    {"id": "topic", "type": "select", "label": "Topic", "options": ["sales", "support"]},
]
ANSWER = msgspec.json.encode(
    {
        "data": {
            "name": "Ada Lovelace",
            "email": "ada@example.com",
            "message": "Some words to store. " * 8,
            "topic": "sales",
        }
    }
)


async def make_form(server: Server, token: str) -> str:
    """The public address that takes answers."""
    limits = {"submit": 100_000, "total": 100_000}
    body = {"name": "Bench", "fields": FIELDS, "settings": {"limits": limits}}
    made: Any = await call(server.port, "POST", "/api/v1/forms", msgspec.json.encode(body), token)
    await call(server.port, "POST", f"/api/v1/forms/{made['data']['id']}/publish", b"{}", token)
    return f"/api/v1/public/forms/{made['data']['slug']}/submit"


async def submit_costs(url: str, rounds: int) -> tuple[float, float]:
    """What a submission costs our server: in inserts of a bare application with our driver, and in us."""
    with tempfile.TemporaryDirectory() as folder:
        servers: list[Server] = []
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            token = await sign_in(servers[0])
            await call(servers[0].port, "POST", "/bench/notes", NOTE, token)
            path = await make_form(servers[0], token)
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), ""))
            submit = Scenario("submit", "POST", path, 500, {}, {}, body=ANSWER)
            insert = Scenario("insert", "POST", "/bench/notes", 500, {}, {}, body=NOTE)
            ratios, costs = [], []
            for _ in range(rounds + 1):
                costs.append(await Side(servers[0]).measure(submit))
                ratios.append(costs[-1] / await Side(servers[1]).measure(insert))
        finally:
            for server in reversed(servers):
                server.stop()
    return statistics.median(ratios[1:]), statistics.median(costs[1:])


async def on_one_core(url: str, count: int) -> Figure:
    """The server has a core, the load has the others, and PostgreSQL is wherever the system puts it."""
    everywhere = os.sched_getaffinity(0)
    own = {max(everywhere)}
    with tempfile.TemporaryDirectory() as folder:
        server = Server("bench.ours", env=environment(folder, url))
        try:
            path = await make_form(server, await sign_in(server))
            _stay_on(server.process.pid, own)
            _stay_on(os.getpid(), everywhere - own or everywhere)
            return await _driven(server, url, request_bytes("POST", path, body=ANSWER), count)
        finally:
            _stay_on(os.getpid(), everywhere)
            server.stop()


def _stay_on(pid: int, cores: set[int]) -> None:
    """A process with all the threads it has; those to come are where these are."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


async def _driven(server: Server, url: str, request: bytes, count: int) -> Figure:
    await drive(server.port, request, WARMING, CONNECTIONS)
    serving = await backends(url)

    def used() -> dict[str, float]:
        ran, waited = scheduled(server.process.pid)
        shares = {"server": ran, "others there": waited, "load": time.process_time()}
        return {**shares, "PostgreSQL": sum(scheduled(pid)[0] for pid in serving)} if url else shares

    started, before = time.perf_counter(), used()
    bad = await drive(server.port, request, count, CONNECTIONS)
    wall, after = time.perf_counter() - started, used()
    if bad:
        raise RuntimeError(f"{bad} of {count} submissions were refused")
    shares = ", ".join(f"{name} {(after[name] - before[name]) / wall:.0%}" for name in after)
    return Figure(
        f"a submission to one core: {count / wall:.0f}/s ({shares} of a core)",
        wall / count * 1000,
        "ms",
        CLOCK_GOAL_MS if url else None,
    )


async def backends(url: str) -> list[int]:
    """The processes of PostgreSQL that serve our database."""
    if not url:
        return []
    connection = await asyncpg.connect(url)
    try:
        return [row["pid"] for row in await connection.fetch(BACKENDS)]
    finally:
        await connection.close()


def scheduled(pid: int) -> tuple[float, float]:
    """Seconds a process ran, and seconds it waited until others let it; none on another machine."""
    seconds = [0.0, 0.0]
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        for place, nanoseconds in enumerate(file.read_text().split()[:2]):
            seconds[place] += int(nanoseconds) / 1e9
    return seconds[0], seconds[1]


async def measure(url: str = "", count: int = ON_ONE_CORE) -> list[Figure]:
    ratio, cost_us = await submit_costs(url, ROUNDS)
    return [
        Figure("a submission, in bare inserts", ratio, "x", IN_INSERTS_GOAL),
        Figure("a submission", cost_us, "us CPU", CPU_GOAL_US),
        await on_one_core(url, count),
    ]


if __name__ == "__main__":
    tell(measure, ON_ONE_CORE)
