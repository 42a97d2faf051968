"""This tree without and with a setting: CPU of pairs, and the median of their ratios.

python -m bench.setting RETINUE_TRACES=on,RETINUE_TRACES=off [PAIRS]

The first server runs with the settings after the comma, the second with those before it.
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from bench.before import WORK, Tree, compare
from bench.servers import Server

_PAIRS = 20


async def main(wanted: str, pairs: int = _PAIRS) -> None:
    here = Path(__file__).resolve().parent.parent
    async with AsyncExitStack() as stack:
        provider = Server("bench.provider")
        stack.callback(provider.stop)
        trees = []
        for given in wanted.split(","):
            name, _, value = given.partition("=")
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            tree = Tree(here, folder, **{name: value})
            stack.callback(tree.server.stop)
            await tree.prepare(f"http://127.0.0.1:{provider.port}")
            trees.append(tree)
        with_it, without = trees
        for what in WORK:
            sys.stdout.write(await compare(without, with_it, what, pairs) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[2:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1], *given))
