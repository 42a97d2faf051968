"""A balancer in front of several servers: connections go to each in turn, byte by byte."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Self

_PIECE = 64 * 1024


class Balancer:
    """Listens on `port`; `ports` says which servers there are at this moment."""

    def __init__(self, port: int, ports: Callable[[], list[int]]) -> None:
        self._port = port
        self._ports = ports
        self._turns = itertools.count()
        self._carrying: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, backlog=2048)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect to the next server that accepts; if one side ends, close the other."""
        there: asyncio.StreamWriter | None = None
        try:
            answers, there = await self._connected()
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, there))
                both.create_task(_pump(answers, writer))
        except* OSError:
            pass
        finally:
            for side in (writer, there):
                if side is not None:
                    side.transport.abort()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ports = self._ports()
        first = next(self._turns)
        for number in range(len(ports)):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", ports[(first + number) % len(ports)])
        raise ConnectionRefusedError


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        target.write(piece)
        await target.drain()
    target.write_eof()
