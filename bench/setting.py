"""This tree without and with a setting: CPU of pairs, and the median of their ratios.

python -m bench.setting RETINUE_TRACES=on,RETINUE_TRACES=off [PAIRS]

The first server runs with the settings after the comma, the second with those before it.
"""

import asyncio
import sys
from contextlib import AsyncExitStack

import uvloop

from bench.servers import Server
from bench.trees import HERE, WORK, compare, running

_PAIRS = 20


async def main(wanted: str, pairs: int = _PAIRS) -> None:
    async with AsyncExitStack() as stack:
        provider = Server("bench.provider")
        stack.callback(provider.stop)
        trees = []
        for given in wanted.split(","):
            name, _, value = given.partition("=")
            tree = running(HERE, f"http://127.0.0.1:{provider.port}", **{name: value})
            trees.append(await stack.enter_async_context(tree))
        with_it, without = trees
        for what in WORK:
            sys.stdout.write(f"{await compare(without, with_it, what, pairs)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[2:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1], *given))
