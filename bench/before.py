"""This tree beside another revision: CPU of pairs, and the median of their ratios.

python -m bench.before REVISION [PAIRS]
"""

import asyncio
import sys
from contextlib import AsyncExitStack

import uvloop

from bench.servers import Server
from bench.trees import HERE, WORK, checked_out, compare, running

_PAIRS = 30


async def main(revision: str, pairs: int) -> None:
    async with AsyncExitStack() as stack:
        there = stack.enter_context(checked_out(revision))
        server = Server("bench.provider")
        stack.callback(server.stop)
        provider = f"http://127.0.0.1:{server.port}"
        before = await stack.enter_async_context(running(there, provider))
        now = await stack.enter_async_context(running(HERE, provider))
        for what in WORK:
            sys.stdout.write(f"{await compare(before, now, what, pairs)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[2:]]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1], *(given or [_PAIRS])))
