"""Metrics on beside off: CPU of pairs, and the median of their ratios.

python -m bench.metrics [PAIRS]
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from bench.before import Tree, compare
from bench.servers import Server

_PAIRS = 30
_WORK = ("one chat at a time", "chat, 8 at once", "streamed chat, 8 at once", "GET of an agent")


async def main(pairs: int) -> None:
    here = Path(__file__).resolve().parent.parent
    async with AsyncExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        provider = Server("bench.provider")
        stack.callback(provider.stop)
        off, on = Tree(here, folders[0]), Tree(here, folders[1], RETINUE_METRICS="on")
        for tree in (off, on):
            stack.callback(tree.server.stop)
            await tree.prepare(f"http://127.0.0.1:{provider.port}")
        for what in _WORK:
            sys.stdout.write(await compare(off, on, what, pairs) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*(given or [_PAIRS])))
