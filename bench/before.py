"""This tree beside another revision: CPU of pairs, and the median of their ratios.

python -m bench.before REVISION [PAIRS]
"""

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from math import floor, sqrt
from pathlib import Path

import msgspec
import uvloop

from bench.bare_chat import KEY
from bench.chat import PROMPT, QUESTION
from bench.load import drive, request_bytes
from bench.requests import call, environment, sign_in
from bench.servers import Server

_PAIRS = 30
_AGENTS = 20
# What, how many requests of a pair, how many at once.
WORK = {
    "one chat at a time": (60, 1),
    "chat, 8 at once": (120, 8),
    "chat, 64 at once": (192, 64),
    "streamed chat, 8 at once": (64, 8),
    "GET of an agent": (800, 1),
    "list of 20 agents": (200, 1),
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
        agent = {
            "name": "words",
            "primary_model": "openai_compatible/words",
            "system_prompt": PROMPT,
            "status": "published",
        }
        for _ in range(_AGENTS):
            made = await call(port, "POST", "/api/v1/agents", msgspec.json.encode(agent), token)
        path = f"/api/v1/agents/{made['id']}"
        question = msgspec.json.encode({"message": QUESTION})
        chat = request_bytes("POST", f"{path}/chat", token=token, body=question)
        self._requests = dict.fromkeys(WORK, chat) | {
            "streamed chat, 8 at once": request_bytes(
                "POST", f"{path}/chat/stream", token=token, body=question
            ),
            "GET of an agent": request_bytes("GET", path, token=token),
            "list of 20 agents": request_bytes("GET", "/api/v1/agents?per_page=20", token=token),
        }

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


def interval(ratios: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by order statistics: it supposes no distribution."""
    ordered, count = sorted(ratios), len(ratios)
    lowest = max(0, floor(count / 2 - 1.96 * sqrt(count) / 2))
    return ordered[lowest], ordered[count - 1 - lowest]


async def compare(before: Tree, now: Tree, what: str, pairs: int) -> str:
    for tree in (before, now):
        await tree.cpu_us(what)
    costs: dict[Tree, list[float]] = {before: [], now: []}
    for _ in range(pairs):
        for tree in random.sample((before, now), 2):
            costs[tree].append(await tree.cpu_us(what))
    ratios = [new / old for new, old in zip(costs[now], costs[before], strict=True)]
    low, high = interval(ratios)
    return (
        f"{what}: {statistics.median(costs[before]):.0f} → {statistics.median(costs[now]):.0f} us, "
        f"ratio {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"
    )


async def main(revision: str, pairs: int) -> None:
    here = Path(__file__).resolve().parent.parent
    async with AsyncExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(3)]
        there = Path(folders[2]) / "tree"
        subprocess.run(("git", "worktree", "add", "--detach", "-q", there, revision), cwd=here, check=True)
        stack.callback(subprocess.run, ("git", "worktree", "remove", "--force", there), cwd=here, check=True)
        provider = Server("bench.provider")
        stack.callback(provider.stop)
        before, now = (Tree(root, folder) for root, folder in zip((there, here), folders, strict=False))
        for tree in (before, now):
            stack.callback(tree.server.stop)
            await tree.prepare(f"http://127.0.0.1:{provider.port}")
        for what in WORK:
            sys.stdout.write(await compare(before, now, what, pairs) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[2:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1], *(given or [_PAIRS])))
