"""One minute of benchmark: this tree beside the last landed commit, in interleaved pairs, on SQLite.

python -m bench.guard [REVISION]

Without a revision it is the commit in RETINUE_BENCH_BASE, else `origin/main` if HEAD is beyond it, else the
first parent of HEAD. Something has regressed if the whole 95 % interval of its ratio lies above 1.03. That is
printed and no failure: only a tree of ours that does not start or answer is.
"""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

from bench.servers import Server
from bench.trees import CHAT, GET, HERE, LIST, STREAM, SUBMIT, Comparison, Tree, checked_out, running

GUARDED = (CHAT, STREAM, GET, LIST, SUBMIT)
MAX_RATIO = 1.03
SECONDS = 45.0
"""For the pairs; starting four processes takes the rest of the minute."""
# With fewer, not even the whole range is a 95 % interval of the median.
MIN_PAIRS = 6

console = Console(width=110)


def commit_of(repository: Path, revision: str) -> str:
    """The commit's id; empty if this clone has none of that name."""
    return _git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").stdout.strip()


def base_of(repository: Path, named: str) -> str:
    """The commit to compare with: the named one, the landed one if HEAD is beyond it, or the first parent."""
    if named:
        return commit_of(repository, named)
    landed = commit_of(repository, "origin/main")
    is_below = _git(repository, "merge-base", "--is-ancestor", landed, "HEAD").returncode == 0
    # In a fresh clone of what is about to land, origin/main is HEAD itself.
    if landed and is_below and landed != commit_of(repository, "HEAD"):
        return landed
    return commit_of(repository, "HEAD^1")


def _git(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(("git", *arguments), cwd=repository, capture_output=True, text=True, check=False)


def has_regressed(comparison: Comparison) -> bool:
    return comparison.interval[0] > MAX_RATIO


def is_enough(pairs: int, seconds: float) -> bool:
    """Whether there are pairs enough for an interval, and no time for another round like those before."""
    return pairs >= MIN_PAIRS and seconds * (pairs + 1) / pairs > SECONDS


async def compare(before: Tree, now: Tree) -> list[Comparison]:
    """Rounds of one pair of each work, so that whatever else the machine does meets all of them."""
    for tree in (before, now):
        for what in GUARDED:
            await tree.cpu_us(what)
    comparisons = [Comparison(what) for what in GUARDED]
    began = time.perf_counter()
    for pairs in count(1):
        for comparison in comparisons:
            await comparison.add_pair(before, now)
        if is_enough(pairs, time.perf_counter() - began):
            break
    return comparisons


def show(comparisons: list[Comparison], revision: str) -> None:
    pairs = len(comparisons[0].ratios)
    table = Table(title=f"server CPU beside {revision[:10]}, median of {pairs} pairs")
    for column in ("what", "ratio", "95 % interval", ""):
        table.add_column(column, justify="right" if column.startswith(("ratio", "95")) else "left")
    for one in comparisons:
        low, high = one.interval
        told = "[bold]regression[/bold]" if has_regressed(one) else ""
        table.add_row(one.what, f"{one.ratio:.3f}", f"{low:.3f} to {high:.3f}", told)
    console.print(table)
    worse = [str(one) for one in comparisons if has_regressed(one)]
    console.print(f"regression: {'; '.join(worse)}" if worse else "no regression")


async def main() -> None:
    revision = base_of(HERE, sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RETINUE_BENCH_BASE", ""))
    if not revision:
        console.print("nothing to compare with: this clone has no such commit")
        return
    async with AsyncExitStack() as stack:
        there = stack.enter_context(checked_out(revision))
        server = Server("bench.provider")
        stack.callback(server.stop)
        provider = f"http://127.0.0.1:{server.port}"
        now = await stack.enter_async_context(running(HERE, provider))
        try:
            before = await stack.enter_async_context(running(there, provider))
        except Exception as error:  # noqa: BLE001  an older commit may need another environment
            console.print(
                f"nothing to compare with: {revision[:10]} does not run in this environment ({error})"
            )
            return
        show(await compare(before, now), revision)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
