"""What a chat costs: ours, beside the bare application that asks the same provider and stores two rows.

Ours keeps traces, as it does by default. What a chat writes and asks of the database is in
`bench/turn_counts.py`.
"""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from bench.bare_chat import KEY
from bench.figures import Ratio
from bench.load import drive, request_bytes
from bench.requests import call, environment, sign_in
from bench.servers import Server


@dataclass(frozen=True)
class Work:
    """Chats of a round, how many at once, and what one of ours may cost in those of the bare application."""

    name: str
    count: int
    at_once: int
    goal: float
    alarm: float
    model: str = "words"
    is_streamed: bool = False


CHAT = Work("chat, 16 at once", 240, 16, 2.3, 2.8)
LONE_CHAT = Work("chat, one at a time", 80, 1, 3.2, 3.7)
STREAM = Work("stream of 20 pieces, 16 at once", 128, 16, 1.5, 2.0, "twenty", is_streamed=True)
LONE_STREAM = Work("stream of 20 pieces, one at a time", 40, 1, 2.2, 2.7, "twenty", is_streamed=True)
# Fifty words as a hosted model says them: it takes a second, most of which is waiting.
STEADY = Work("stream of 50 pieces, 20 ms apart, 32 at once", 64, 32, 2.5, 3.0, "steady", is_streamed=True)
COMPARED = (CHAT, LONE_CHAT, STREAM, LONE_STREAM, STEADY)
# Beside peers, which are asked for as many words whether they stream or not.
LONG_STREAM = Work("chat streamed in 50 chunks", 120, 16, 2.5, 3.0, is_streamed=True)
_MODELS = ("words", "twenty", "steady", "slow", "silent")
PROMPT = "You are a friendly assistant. Answer briefly."
QUESTION = "Hello, how are you?"


@dataclass
class Side:
    server: Server
    token: str = ""
    figures: dict[Work, list[float]] = field(default_factory=lambda: {work: [] for work in COMPARED})

    def request(self, work: Work, model: str = "") -> bytes:
        path = "/bench/chat/stream" if work.is_streamed else "/bench/chat"
        body = msgspec.json.encode({"message": QUESTION, "model": model or work.model})
        return request_bytes("POST", path, body=body)

    async def cpu_us(self, work: Work, *, share: float = 1.0, at_once: int = 0) -> float:
        """CPU microseconds of the server for one chat."""
        count = int(work.count * share)
        before = self.server.cpu_seconds()
        await self.ask(work, count, at_once or work.at_once)
        return (self.server.cpu_seconds() - before) / count * 1e6

    async def ask(self, work: Work, count: int, at_once: int) -> None:
        bad = await drive(self.server.port, self.request(work), count, at_once)
        if bad:
            raise RuntimeError(f"{work.name}: {bad} of {count} requests failed")


@dataclass
class OurSide(Side):
    """Every model of the provider has an agent of its own."""

    folder: Path = Path()
    agents: dict[str, str] = field(default_factory=dict)

    def request(self, work: Work, model: str = "") -> bytes:
        path = f"/api/v1/agents/{self.agents[model or work.model]}/chat"
        body = msgspec.json.encode({"message": QUESTION})
        return request_bytes("POST", path + "/stream" * work.is_streamed, token=self.token, body=body)


@asynccontextmanager
async def sides(url: str) -> AsyncIterator[tuple[OurSide, Side, str]]:
    """Our server and the bare one on one database, and where the provider is that both ask."""
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server("bench.provider")]
        provider = f"http://127.0.0.1:{servers[0].port}"
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            ours = await _prepared(servers[-1], folder, provider)
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), provider))
            yield ours, Side(servers[-1]), provider
        finally:
            for server in reversed(servers):
                server.stop()


@asynccontextmanager
async def our_side(url: str, provider: str, **settings: str) -> AsyncIterator[OurSide]:
    """Another server of ours, with these settings."""
    with tempfile.TemporaryDirectory() as folder:
        # In a thread, for what it needs to start may be served by this loop.
        server = await asyncio.to_thread(Server, "bench.ours", env=environment(folder, url) | settings)
        try:
            yield await _prepared(server, folder, provider)
        finally:
            await asyncio.to_thread(server.stop)


async def _prepared(server: Server, folder: str, provider: str) -> OurSide:
    side = OurSide(server, await sign_in(server), folder=Path(folder))
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": provider, "name": "Bench"}
    await call(server.port, "POST", "/api/v1/api-keys", msgspec.json.encode(key), side.token)
    for model in _MODELS:
        agent = {
            "name": model,
            "primary_model": f"openai_compatible/{model}",
            "system_prompt": PROMPT,
            "status": "published",
        }
        made = await call(server.port, "POST", "/api/v1/agents", msgspec.json.encode(agent), side.token)
        side.agents[model] = str(made["id"])
    return side


async def compare(ours: Side, bare: Side, rounds: int) -> list[Ratio]:
    """Both sides in one run, in shuffled order."""
    all_work = [(side, work) for side in (ours, bare) for work in COMPARED]
    for side, work in all_work:
        await side.cpu_us(work, share=0.25)
    for _ in range(rounds):
        for side, work in random.sample(all_work, len(all_work)):
            side.figures[work].append(await side.cpu_us(work))
    return [
        Ratio(work.name, ours.figures[work], bare.figures[work], work.goal, work.alarm) for work in COMPARED
    ]
