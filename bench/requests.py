"""What is measured of requests: scenarios, rounds, ratios."""

import asyncio
import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from bench.figures import KEY, Ratio
from bench.load import drive, request_bytes
from bench.servers import Server

ROUNDS = 7
NOTE_CHUNKS = 500
PASSWORD = "Bench-Password-1"
ORDER = msgspec.json.encode({"input": {"order_id": "17"}})
NOTE = msgspec.json.encode({"title": "A note", "body": "Some words to store. " * 10})


@dataclass
class Scenario:
    name: str
    method: str
    path: str
    count: int
    goal: dict[str, float]
    alarm: dict[str, float]
    body: bytes = b""
    per: int = 1


def scenarios(note_id: str) -> list[Scenario]:
    both = {"sqlite", "postgresql"}

    def same(value: float) -> dict[str, float]:
        return dict.fromkeys(both, value)

    return [
        Scenario("health", "GET", "/health", 2000, same(1.7), same(2.2)),
        Scenario(
            "GET by id", "GET", f"/bench/notes/{note_id}", 2000,
            {"sqlite": 2.2, "postgresql": 2.0}, {"sqlite": 2.8, "postgresql": 2.6},
        ),
        Scenario("POST", "POST", "/bench/notes", 800, same(1.8), same(2.4), body=NOTE),
        Scenario("list of 20 with count", "GET", "/bench/notes", 800, same(1.6), same(2.0)),
        # The bare application reads notes for them.
        Scenario("GET of an agent", "GET", "AGENT", 2000, same(1.8), same(2.3)),
        Scenario("list of 20 agents", "GET", "LIST", 800, same(1.5), same(2.0)),
        Scenario("rest_api tool executed", "POST", "EXECUTE", 400, same(3.0), same(3.5), body=ORDER),
        Scenario("SSE chunk", "GET", "/bench/notes/stream", 24, same(1.5), same(2.0), per=NOTE_CHUNKS),
    ]  # fmt: skip


@dataclass
class Side:
    server: Server
    token: str = ""
    note_id: str = ""
    paths: dict[str, str] = field(default_factory=dict)
    figures: dict[str, list[float]] = field(default_factory=dict)

    async def measure(self, scenario: Scenario, *, share: float = 1.0) -> float:
        """CPU microseconds of the server for one request, or one chunk."""
        path = self.paths.get(scenario.path) or scenario.path.replace("NOTE", self.note_id)
        request = request_bytes(scenario.method, path, token=self.token, body=scenario.body)
        count = max(8, int(scenario.count * share))
        before = self.server.cpu_seconds()
        bad = await drive(self.server.port, request, count)
        used = self.server.cpu_seconds() - before
        if bad:
            raise RuntimeError(f"{scenario.name}: {bad} of {count} requests failed")
        return used / count / scenario.per * 1e6


async def call(port: int, method: str, path: str, body: bytes = b"", token: str = "") -> dict[str, object]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = request_bytes(method, path, token=token, body=body)
    writer.write(request.replace(b"User-Agent", b"Connection: close\r\nUser-Agent"))
    answer = await reader.read()
    writer.close()
    return msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])  # type: ignore[no-any-return]


class Listening(Protocol):
    """Whatever answers on a port of this machine."""

    port: int


async def lift_limits(server: Listening, token: str) -> None:
    """A quiet machine sends more than any plan allows."""
    tenant = await call(server.port, "GET", "/api/v1/tenant", token=token)
    limits = dict.fromkeys(
        (
            "requests_per_minute", "requests_per_hour", "requests_per_day",
            "chat_per_minute", "concurrent_executions",
        )
    )  # fmt: skip
    path = f"/api/v1/tenants/{tenant['id']}"
    await call(server.port, "PUT", path, msgspec.json.encode({"limits": limits}), token)


async def sign_in(server: Server) -> str:
    """A token of someone whom no plan limits."""
    credentials = msgspec.json.encode({"email": "admin@example.com", "password": PASSWORD})
    token = str((await call(server.port, "POST", "/auth/login", credentials))["access_token"])
    await lift_limits(server, token)
    return token


async def make_tool(server: Server, token: str, upstream: str) -> str:
    """The path that executes a tool of the API."""
    tool = {
        "name": "Orders",
        "category": "custom",
        "tool_type": "rest_api",
        "auth_type": "none",
        "config": {
            "base_url": upstream,
            "endpoints": {"get": {"method": "GET", "path": "/orders/{order_id}"}},
        },
    }
    made = await call(server.port, "POST", "/v1/tools", msgspec.json.encode(tool), token)
    return f"/v1/tools/{made['data']['id']}/execute"  # type: ignore[index]


async def make_agents(server: Server, token: str) -> str:
    """The path of one of twenty."""
    agent = msgspec.json.encode(
        {"name": "Bench", "primary_model": "openai/gpt-4o", "system_prompt": "Answer briefly."}
    )
    for _ in range(20):
        made = await call(server.port, "POST", "/api/v1/agents", agent, token)
    return f"/api/v1/agents/{made['id']}"


async def prepare(server: Server, upstream: str, *, is_ours: bool) -> Side:
    """Sign in, write the notes and agents that are read, and make the tool that is executed."""
    token = await sign_in(server) if is_ours else ""
    made = await call(server.port, "POST", "/bench/notes", NOTE, token)
    for _ in range(99):
        await call(server.port, "POST", "/bench/notes", NOTE, token)
    note = f"/bench/notes/{made['id']}"
    paths = {"EXECUTE": "/bench/execute", "AGENT": note, "LIST": "/bench/notes"}
    if is_ours:
        paths = {
            "EXECUTE": await make_tool(server, token, upstream),
            "AGENT": await make_agents(server, token),
            "LIST": "/api/v1/agents?per_page=20",
        }
    return Side(server, token, str(made["id"]), paths)


def environment(folder: str, url: str) -> dict[str, str]:
    """The settings of our server."""
    return {
        "RETINUE_DATA_DIR": folder,
        "RETINUE_DATABASE_URL": url,
        "RETINUE_ADMIN_PASSWORD": PASSWORD,
        "RETINUE_WORKER": "off",
        "RETINUE_LOG_LEVEL": "warning",
        **KEY,
    }


async def compare(database: str, url: str, rounds: int) -> list[Ratio]:
    """Our side and the bare one on one database, in one run, in shuffled order."""
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server("bench.upstream")]
        upstream = f"http://127.0.0.1:{servers[0].port}"
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            ours = await prepare(servers[-1], upstream, is_ours=True)
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), upstream))
            bare = await prepare(servers[-1], upstream, is_ours=False)
            await _rounds(ours, bare, rounds)
        finally:
            for server in reversed(servers):
                server.stop()
    return [
        Ratio(
            scenario.name,
            ours.figures[scenario.name],
            bare.figures[scenario.name],
            scenario.goal[database],
            scenario.alarm[database],
        )
        for scenario in scenarios("NOTE")
    ]


async def _rounds(ours: Side, bare: Side, rounds: int) -> None:
    work = [(side, scenario) for side in (ours, bare) for scenario in scenarios("NOTE")]
    for side, scenario in work:
        await side.measure(scenario, share=0.25)
    for _ in range(rounds):
        random.shuffle(work)
        for side, scenario in work:
            side.figures.setdefault(scenario.name, []).append(await side.measure(scenario))
