"""What a chat writes and asks of the database, and what keeping its trace adds to it."""

import asyncio
import sqlite3
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from bench.chat import CHAT, LONE_CHAT, OurSide, our_side
from bench.figures import Figure
from bench.submitting import backends, scheduled

CHATS = 40
MAX_TRACES_PERCENT = 8.0
MAX_PAGES = 48
# Where the shared memory of a WAL tells its last frame: the fifth word of WalIndexHdr.
_LAST_FRAME = slice(16, 20)


async def measure(url: str, provider: str, ours: OurSide, rounds: int) -> list[Figure]:
    async with our_side(url, provider, RETINUE_TRACES="off") as untraced:
        figures = [await _traces_percent(ours, untraced, rounds)]
    if url:
        figures += [await _round_trips(url, provider), await _cpu_with_backends(url, ours)]
    else:
        figures.append(await _pages(ours))
    return figures


async def _traces_percent(ours: OurSide, untraced: OurSide, rounds: int) -> Figure:
    await untraced.cpu_us(CHAT, share=0.25)
    ratios = [await ours.cpu_us(CHAT) / await untraced.cpu_us(CHAT) for _ in range(rounds)]
    return Figure("what traces add", (statistics.median(ratios) - 1) * 100, "%", MAX_TRACES_PERCENT)


async def _pages(ours: OurSide) -> Figure:
    path = ours.folder / "retinue.db"
    connection = sqlite3.connect(path)
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        await asyncio.sleep(0.1)
    connection.close()
    await ours.ask(LONE_CHAT, CHATS, at_once=1)
    frames = int.from_bytes(Path(f"{path}-shm").read_bytes()[_LAST_FRAME], "little")
    return Figure("pages written", frames / CHATS, "a chat", MAX_PAGES)


async def _cpu_with_backends(url: str, ours: OurSide) -> Figure:
    serving = await backends(url)

    def used() -> float:
        return ours.server.cpu_seconds() + sum(scheduled(pid)[0] for pid in serving)

    before = used()
    await ours.ask(CHAT, CHAT.count, CHAT.at_once)
    return Figure("CPU with that of PostgreSQL", (used() - before) / CHAT.count * 1e6, "us", None)


class _Counter:
    """How often a client has written after an answer."""

    def __init__(self) -> None:
        self.round_trips = 0


async def _round_trips(url: str, provider: str) -> Figure:
    async with _counted(url) as (counter, through), our_side(through, provider) as side:
        await side.ask(LONE_CHAT, CHATS, at_once=1)
        before = counter.round_trips
        await side.ask(LONE_CHAT, CHATS, at_once=1)
        return Figure("round trips", (counter.round_trips - before) / CHATS, "a chat", None)


@asynccontextmanager
async def _counted(url: str) -> AsyncIterator[tuple[_Counter, str]]:
    """A way to the same database that counts."""
    parts, counter = urlsplit(url), _Counter()

    async def serve(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, questions = await asyncio.open_connection(parts.hostname, parts.port or 5432)
        has_answered = True

        async def ask() -> None:
            nonlocal has_answered
            while data := await client.read(65_536):
                counter.round_trips += has_answered
                has_answered = False
                questions.write(data)
            questions.close()

        async def answer() -> None:
            nonlocal has_answered
            while data := await server.read(65_536):
                has_answered = True
                answers.write(data)
            answers.close()

        await asyncio.gather(ask(), answer(), return_exceptions=True)

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    port = proxy.sockets[0].getsockname()[1]
    try:
        yield counter, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{port}"))
    finally:
        proxy.close()
