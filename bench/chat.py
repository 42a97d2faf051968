"""What a chat costs: ours, beside the bare application that asks the same provider and stores two rows."""

import random
import statistics
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

CHAT, STREAM, STEADY = "chat", "chat streamed in 50 chunks", "the same, 20 ms apart"
COUNTS = {CHAT: 240, STREAM: 120, STEADY: 64}
# A steady stream is fifty words as a hosted model says them: it takes a second, most of which is waiting.
AT_ONCE = {CHAT: 8, STREAM: 8, STEADY: 32}
MODELS = {CHAT: "words", STREAM: "words", STEADY: "steady"}
GOALS = {CHAT: 3.0, STREAM: 2.5, STEADY: 2.5}
ALARMS = {CHAT: 3.5, STREAM: 3.0, STEADY: 3.0}
PROMPT = "You are a friendly assistant. Answer briefly."
QUESTION = "Hello, how are you?"


@dataclass
class Side:
    server: Server
    paths: dict[str, str]
    token: str = ""
    figures: dict[str, list[float]] = field(default_factory=lambda: {what: [] for what in COUNTS})

    def request(self, what: str, model: str = "") -> bytes:
        body = msgspec.json.encode({"message": QUESTION, "model": model or MODELS[what]})
        return request_bytes("POST", self.paths[what], token=self.token, body=body)

    async def cpu_us(self, what: str, *, share: float = 1.0, at_once: int = 0) -> float:
        """CPU microseconds of the server for one chat."""
        count = int(COUNTS[what] * share)
        before = self.server.cpu_seconds()
        bad = await drive(self.server.port, self.request(what), count, at_once or AT_ONCE[what])
        if bad:
            raise RuntimeError(f"{what}: {bad} of {count} requests failed")
        return (self.server.cpu_seconds() - before) / count * 1e6

    def median(self, what: str) -> float:
        return statistics.median(self.figures[what])


@dataclass
class OurSide(Side):
    """Every model of the provider has an agent of its own."""

    agents: dict[str, str] = field(default_factory=dict)

    def request(self, what: str, model: str = "") -> bytes:
        path = f"/api/v1/agents/{self.agents[model or MODELS[what]]}{self.paths[what]}"
        return request_bytes("POST", path, token=self.token, body=msgspec.json.encode({"message": QUESTION}))


@asynccontextmanager
async def sides(url: str) -> AsyncIterator[tuple[OurSide, Side, str]]:
    """Our server and the bare one on one database, and where the provider is that both ask."""
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server("bench.provider")]
        provider = f"http://127.0.0.1:{servers[0].port}"
        try:
            servers.append(Server("bench.ours", env=environment(folder, url)))
            ours = await _prepared(servers[-1], provider)
            servers.append(Server("bench.bare", url or str(Path(folder) / "retinue.db"), provider))
            bare = Side(servers[-1], _paths("/bench/chat"))
            yield ours, bare, provider
        finally:
            for server in reversed(servers):
                server.stop()


def _paths(chat: str) -> dict[str, str]:
    return {CHAT: chat, STREAM: f"{chat}/stream", STEADY: f"{chat}/stream"}


async def _prepared(server: Server, provider: str) -> OurSide:
    side = OurSide(server, _paths("/chat"), await sign_in(server))
    models = ("words", "steady", "slow", "silent")
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": provider, "name": "Bench"}
    await call(server.port, "POST", "/api/v1/api-keys", msgspec.json.encode(key), side.token)
    for model in models:
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
    work = [(side, what) for side in (ours, bare) for what in COUNTS]
    for side, what in work:
        await side.cpu_us(what, share=0.25)
    for _ in range(rounds):
        for side, what in random.sample(work, len(work)):
            side.figures[what].append(await side.cpu_us(what))
    return [Ratio(what, ours.median(what), bare.median(what), GOALS[what], ALARMS[what]) for what in COUNTS]
