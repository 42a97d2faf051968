"""The console of a large tenant: what its requests cost the server, how soon a browser paints after input.

    python -m bench.console [conversations]

Set RETINUE_BENCH_DATABASE_URL for PostgreSQL. Without Chromium only the server is measured.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import asyncpg
import msgspec

from bench.console_data import AGENTS, CONVERSATIONS, TURNS, Large, fill_tenant
from bench.figures import KEY, Figure, tell
from bench.load import drive, request_bytes
from bench.requests import call, environment, sign_in
from bench.servers import Server, cpu_seconds
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.wiring import close_instance, open_instance

TIMES = 60
SEARCH_MS = 50.0
PAGE_MS = 100.0
_HOME_KEPT_S = 10.0


class Asked(msgspec.Struct):
    """A request of a screen, and the most that 95 of 100 answers may take."""

    path: str
    goal_ms: float = PAGE_MS


def asked(large: Large) -> dict[str, Asked]:
    conversations = "/api/v1/conversations?per_page=50&include=agent_name"
    executions = f"/v1/tools/{large.tool_id}/executions?per_page=50"
    return {
        "search, a name": Asked("/api/v1/search?q=support&limit=12", SEARCH_MS),
        "search, the end of a number": Asked("/api/v1/search?q=0421&limit=12", SEARCH_MS),
        "search, an id": Asked(f"/api/v1/search?q={large.conversation_id}&limit=12", SEARCH_MS),
        "search, nothing": Asked("/api/v1/search?q=xylophone&limit=12", SEARCH_MS),
        "agents with their figures": Asked("/api/v1/agents?include=stats&per_page=50"),
        "agents found by name": Asked("/api/v1/agents?include=stats&per_page=50&search=parcels"),
        "conversations": Asked(conversations),
        "conversations of an agent": Asked(f"{conversations}&agent_id={large.agent_id}"),
        "conversations that are closed": Asked(f"{conversations}&status=closed"),
        "conversations by title": Asked(f"{conversations}&search=parcel%200004"),
        "conversations that failed": Asked(f"{conversations}&failed=true"),
        "conversations that were rated badly": Asked(f"{conversations}&rating=negative"),
        "conversations that cost a cent": Asked(f"{conversations}&min_cost_usd=0.01"),
        "one's own conversations": Asked(f"{conversations}&user_id={large.user_id}&archived=false"),
        "members": Asked("/users?per_page=50"),
        "members by name": Asked("/users?per_page=50&search=baker"),
        "executions of a tool": Asked(executions),
        "executions that failed": Asked(f"{executions}&status=failed"),
        "figures of a tool": Asked(f"/v1/tools/{large.tool_id}/stats?period=30d"),
        "the last hundred messages": Asked(
            f"/api/v1/conversations/{large.conversation_id}/messages?per_page=100&page=10"
        ),
        "traces of the long conversation": Asked(
            f"/api/v1/traces?conversation_id={large.conversation_id}&kind=turn&per_page=100"
        ),
        "home, kept": Asked("/api/v1/home"),
    }


class Spent:
    """CPU of the server and of the database's processes that work for it."""

    def __init__(self, server: Server, backends: list[int]) -> None:
        self._pids = [server.process.pid, *backends]

    def seconds(self) -> float:
        return sum(cpu_seconds(pid) for pid in self._pids)


async def _backends(url: str) -> list[int]:
    if not url:
        return []
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.close()
    return [row["pid"] for row in rows]


async def _answers(server: Server, url: str, token: str, name: str, asked: Asked) -> list[Figure]:
    request = request_bytes("GET", asked.path, token=token)
    if bad := await drive(server.port, request, 3):
        raise RuntimeError(f"{name}: {bad} of 3 requests failed")
    # By now the server has the connections that it needs.
    spent = Spent(server, await _backends(url))
    taken, cpu = [], []
    for _ in range(TIMES):
        began, before = time.perf_counter(), spent.seconds()
        await drive(server.port, request, 1)
        cpu.append((spent.seconds() - before) * 1000)
        taken.append((time.perf_counter() - began) * 1000)
    return [
        Figure(f"{name}, p95", _p95(taken), "ms", asked.goal_ms),
        Figure(f"{name}, p95 of CPU, database included", _p95(cpu), "ms", asked.goal_ms),
    ]


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


async def _home_anew(server: Server, token: str) -> list[Figure]:
    """Home when nothing of it is kept."""
    request, taken = request_bytes("GET", "/api/v1/home", token=token), []
    for _ in range(3):
        time.sleep(_HOME_KEPT_S + 0.5)
        began = time.perf_counter()
        await drive(server.port, request, 1)
        taken.append((time.perf_counter() - began) * 1000)
    return [Figure("home anew, the slowest of three", max(taken), "ms", PAGE_MS)]


async def filled(folder: str, url: str, size: int) -> Large:
    """Let a server make the tenant and its administrator, then fill the tenant."""
    server = Server("bench.ours", env=environment(folder, url))
    try:
        token = await sign_in(server)
        me = await call(server.port, "GET", "/auth/me", token=token)
    finally:
        server.stop()
    settings = Settings(
        data_dir=Path(folder), database_url=url, worker="off", master_key=Secret(KEY["RETINUE_MASTER_KEY"])
    )
    instance = await open_instance(settings)
    try:
        large = await fill_tenant(instance, str(me["tenant_id"]), str(me["id"]), size)
    finally:
        await close_instance(instance)
    if url:
        connection = await asyncpg.connect(url)
        await connection.execute("VACUUM ANALYZE")
        await connection.close()
    return large


async def measure(url: str = "", size: int = CONVERSATIONS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        large = await filled(folder, url, size)
        sys.stdout.write(
            f"{AGENTS:,} agents, {size:,} conversations, one of {TURNS} turns, "
            f"filled in {time.perf_counter() - began:.0f} s\n"
        )
        server = Server("bench.ours", env=environment(folder, url))
        try:
            token = await sign_in(server)
            figures = []
            for name, one in asked(large).items():
                figures += await _answers(server, url, token, name, one)
            figures += await _home_anew(server, token)
            if not url and shutil.which("chromium") and "RETINUE_BENCH_NO_BROWSER" not in os.environ:
                from bench.interactions import interactions

                figures += await interactions(server.port, large)
            return figures
        finally:
            server.stop()


if __name__ == "__main__":
    tell(measure, CONVERSATIONS)
