"""Servers that run two source trees, and what the same requests cost them in interleaved pairs."""

import os
import random
import statistics
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from bench.bare_chat import KEY
from bench.chat import PROMPT, QUESTION
from bench.figures import interval
from bench.load import drive, request_bytes
from bench.requests import call, environment, sign_in
from bench.servers import Server
from bench.submitting import ANSWER, make_form

HERE = Path(__file__).resolve().parent.parent
_AGENTS = 20
CHAT, STREAM = "chat, 16 at once", "stream of 20 pieces, 16 at once"
GET, LIST, SUBMIT = "GET of an agent", "list of 20 agents", "form submission"
# What, how many requests of a pair, how many at once.
WORK = {
    "one chat at a time": (60, 1),
    CHAT: (128, 16),
    "chat, 64 at once": (192, 64),
    STREAM: (64, 16),
    GET: (800, 1),
    LIST: (200, 1),
    SUBMIT: (120, 8),
}


class Tree:
    """A server that runs the code of one source tree, with further settings if given."""

    def __init__(self, root: Path, folder: str, **settings: str) -> None:
        tree = {**settings, "PYTHONPATH": f"{root}/src{os.pathsep}{root}"}
        self.server = Server("bench.ours", env={**environment(folder, ""), **tree}, folder=root)
        self._requests: dict[str, bytes] = {}

    async def prepare(self, provider: str) -> None:
        token, port = await sign_in(self.server), self.server.port
        key = {"provider": "openai_compatible", "api_key": KEY, "base_url": provider, "name": "Bench"}
        await call(port, "POST", "/api/v1/api-keys", msgspec.json.encode(key), token)
        models = ["twenty", *["words"] * (_AGENTS - 1)]
        streaming, *_, chatting = [await self._make_agent(model, token) for model in models]
        question = msgspec.json.encode({"message": QUESTION})
        chat = request_bytes("POST", f"{chatting}/chat", token=token, body=question)
        self._requests = dict.fromkeys(WORK, chat) | {
            STREAM: request_bytes("POST", f"{streaming}/chat/stream", token=token, body=question),
            GET: request_bytes("GET", chatting, token=token),
            LIST: request_bytes("GET", f"/api/v1/agents?per_page={_AGENTS}", token=token),
            SUBMIT: request_bytes("POST", await make_form(self.server, token), body=ANSWER),
        }

    async def _make_agent(self, model: str, token: str) -> str:
        agent = {
            "name": "words",
            "primary_model": f"openai_compatible/{model}",
            "system_prompt": PROMPT,
            "status": "published",
        }
        made = await call(self.server.port, "POST", "/api/v1/agents", msgspec.json.encode(agent), token)
        return f"/api/v1/agents/{made['id']}"

    def request(self, what: str) -> bytes:
        return self._requests[what]

    async def cpu_us(self, what: str) -> float:
        """CPU microseconds of the server for one request."""
        count, at_once = WORK[what]
        before = self.server.cpu_seconds()
        bad = await drive(self.server.port, self.request(what), count, at_once)
        if bad:
            raise RuntimeError(f"{what}: {bad} of {count} requests failed")
        return (self.server.cpu_seconds() - before) / count * 1e6


@asynccontextmanager
async def running(root: Path, provider: str, **settings: str) -> AsyncIterator[Tree]:
    """A server of this source tree, ready to be measured."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(root, folder, **settings)
        try:
            await tree.prepare(provider)
            yield tree
        finally:
            tree.server.stop()


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A source tree with the code of this revision."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "tree"
        subprocess.run(("git", "worktree", "add", "--detach", "-q", there, revision), cwd=HERE, check=True)
        try:
            yield there
        finally:
            subprocess.run(("git", "worktree", "remove", "--force", there), cwd=HERE, check=True)


@dataclass
class Comparison:
    """What some work cost before and costs now, in pairs."""

    what: str
    before_us: list[float] = field(default_factory=list)
    now_us: list[float] = field(default_factory=list)

    async def add_pair(self, before: Tree, now: Tree) -> None:
        costs = {tree: await tree.cpu_us(self.what) for tree in random.sample((before, now), 2)}
        self.before_us.append(costs[before])
        self.now_us.append(costs[now])

    @property
    def ratios(self) -> list[float]:
        return [new / old for new, old in zip(self.now_us, self.before_us, strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def interval(self) -> tuple[float, float]:
        return interval(self.ratios)

    def __str__(self) -> str:
        before, now = statistics.median(self.before_us), statistics.median(self.now_us)
        low, high = self.interval
        return f"{self.what}: {before:.0f} → {now:.0f} us, ratio {self.ratio:.3f} ({low:.3f} to {high:.3f})"


async def compare(before: Tree, now: Tree, what: str, pairs: int) -> Comparison:
    for tree in (before, now):
        await tree.cpu_us(what)
    comparison = Comparison(what)
    for _ in range(pairs):
        await comparison.add_pair(before, now)
    return comparison
