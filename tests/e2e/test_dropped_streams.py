"""Clients that leave in the middle, or never read: nothing of them is left, and what was said is kept."""

import asyncio
import contextlib
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from math import inf
from pathlib import Path

import pytest

from retinue.chat.models import MessageStatus, TurnStatus
from retinue.kit.limits.limiter import MAX_REDIS_CALLS
from tests.adapters.llm_server import Request
from tests.e2e.chatting import (
    HEAD,
    Colleague,
    Shop,
    StreamClient,
    Talker,
    hanging,
    hire,
    piece,
    read_kept,
    serve_talker,
    set_up,
)
from tests.e2e.conftest import Serving
from tests.e2e.processes import ServerProcess
from tests.e2e.watcher import MOST_EXIT_S, Watcher

pytestmark = pytest.mark.either_database

CLIENTS = 500
SEED = 4
# On a machine that has nothing else to do.
WITHIN_S = 5 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
WARM, STALLED = 3, 50
MOST_STALLED_S = 45
# The reply itself, the queue of its stream (128 kB), and what the database keeps at hand.
MOST_PER_STALLED = 1.5 * 1024 * 1024
LONG = tuple(f"{number:04} " for number in range(6000))
WORDS = tuple(f"word{number} " for number in range(12))
# Pools of connections may have grown, to the database and to Redis; whatever a client left behind would be
# there hundreds of times.
_POOLED = 12 + MAX_REDIS_CALLS


async def wait_until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while not await is_so():
        await asyncio.sleep(0.05)


async def open_and_read(shop: Shop, count: int, chance: random.Random) -> list[StreamClient]:
    """Streams of which each is read to a random byte after its first word."""
    clients = await asyncio.gather(*(StreamClient(shop).open() for _ in range(count)))
    places = [chance.randrange(0, 300) for _ in clients]

    async def read(client: StreamClient, further: int) -> None:
        await client.until(b"event: content_delta")
        await client.read(further)

    await asyncio.gather(*map(read, clients, places))
    return clients


async def round_of_drops(shop: Shop, count: int, chance: random.Random, descriptors: float = inf) -> set[str]:
    """Open streams and drop them; return the ids of their replies."""
    hang_ups, cut_off = shop.talker.hang_ups + count, await turns_with(shop, "cancelled") + count
    clients = await open_and_read(shop, count, chance)
    for number, client in enumerate(clients):
        client.drop(with_reset=number % 2 == 0)

    async def are_forgotten() -> bool:
        return (
            shop.talker.hang_ups == hang_ups
            and shop.descriptors <= descriptors
            and await turns_with(shop, "cancelled") == cut_off
        )

    async with asyncio.timeout(WITHIN_S):
        await wait_until(are_forgotten)
    return {client.ids["message_id"] for client in clients}


async def turns_with(shop: Shop, status: str) -> int:
    """Return the number of stored turns with this status."""
    path = f"/api/v1/agents/{shop.agent_id}/logs?status={status}&per_page=1"
    answered, page = await shop.call("GET", path)
    assert answered == 200, page
    return page["pagination"]["total"]


async def test_nothing_is_left_of_clients_that_drop_their_streams(serving: Serving) -> None:
    chance = random.Random(SEED)
    async with serve_talker(hanging(*WORDS)) as talker, serving() as server:
        await server.start()
        shop = await set_up(server, talker)
        left = await round_of_drops(shop, 20, chance)
        left |= await round_of_drops(shop, CLIENTS, chance, shop.descriptors + _POOLED * len(server.pids))
        # The plan has exactly as many places as there are clients: one that leaked would be missed.
        others = await open_and_read(shop, CLIENTS, chance)
        left |= await stop_under(server, others)
    found = await read_kept(server)
    text = "".join(WORDS)
    assert found.replies.keys() == left
    assert {(one.content, one.status) for one in found.replies.values()} == {(text, MessageStatus.incomplete)}
    assert len({one.conversation_id for one in found.replies.values()}) == len(left)
    assert Counter(log.status for log in found.logs) == {TurnStatus.cancelled: len(left)}
    assert "Traceback" not in server.log


async def stop_under(server: ServerProcess, clients: list[StreamClient]) -> set[str]:
    """Stop the server, which tells every stream; return the ids of the replies."""
    async with asyncio.timeout(MOST_EXIT_S):
        exited, *heard = await asyncio.gather(server.stop(), *(client.to_end() for client in clients))
    assert exited == 0
    last_words = {re.sub(rb"id: \d+\n", b"", got.rpartition(b"event: ")[2]) for got in heard}
    assert len(last_words) == 1
    assert b'error\ndata: {"code":"server_shutdown"' in last_words.pop()
    for client in clients:
        client.drop(with_reset=False)
    return {client.ids["message_id"] for client in clients}


async def answer_at_length(
    talker: Talker, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """To `Talk` with far more than anyone's buffers hold; to anything else hardly at all."""
    if request.json["messages"][-1]["content"] != "Talk":
        await hanging("Well ")(talker, request, reader, writer)
        return
    writer.write(HEAD + b"".join(map(piece, LONG)) + piece("", "stop") + b"data: [DONE]\n\n")
    await writer.drain()


@contextlib.asynccontextmanager
async def talkative_shop(folder: Path, database_url: str) -> AsyncIterator[Shop]:
    """A server whose agent talks at length, and whose health is looked at all the time."""
    async with serve_talker(answer_at_length) as talker, ServerProcess(folder, database_url) as server:
        await server.start()
        shop = await set_up(server, talker)
        for _ in range(WARM):
            await read_at_length(shop)
        watcher = Watcher(server)
        try:
            yield shop
        finally:
            answered = await watcher.finish()
        assert answered > 3


async def listen_without_reading(shop: Shop) -> list[StreamClient]:
    """Clients that read nothing of their replies, all of which are finished and stored by now."""
    before = shop.resident_bytes
    opening = (StreamClient(shop, "Talk", receive_buffer=2048).open() for _ in range(STALLED))
    clients = await asyncio.gather(*opening)

    async def are_stored() -> bool:
        return await turns_with(shop, "completed") == WARM + STALLED

    async with asyncio.timeout(30):
        await wait_until(are_stored)
    assert (shop.resident_bytes - before) / STALLED < MOST_PER_STALLED
    return clients


async def read_at_length(shop: Shop) -> None:
    client = await StreamClient(shop, "Talk").open()
    await client.until(b"event: message_stop")
    client.drop(with_reset=False)


async def check_end_of_session(shop: Shop, colleague: Colleague) -> None:
    """The stream of someone who is deactivated ends soon, and so does the turn."""
    client = await StreamClient(shop).open(colleague.token)
    await client.until(b"event: content_delta")
    hang_ups = shop.talker.hang_ups
    status, answer = await shop.call("POST", f"/users/{colleague.id}/deactivate")
    assert status == 200, answer
    async with asyncio.timeout(WITHIN_S):
        await client.until(b'event: error\nid: 2\ndata: {"code":"session_ended"')

    async def is_cut_off() -> bool:
        return shop.talker.hang_ups > hang_ups and await turns_with(shop, "cancelled") == 1

    async with asyncio.timeout(WITHIN_S):
        await wait_until(is_cut_off)
    client.drop(with_reset=False)


@pytest.mark.slow
async def test_clients_that_never_read_cost_little_and_others_nothing(
    tmp_path: Path, database_url: str
) -> None:
    async with talkative_shop(tmp_path, database_url) as shop:
        ending = asyncio.create_task(check_end_of_session(shop, await hire(shop)))
        clients = await listen_without_reading(shop)
        await ending
        found = await read_kept(shop.server)
        for client in clients:
            client.drop(with_reset=False)
    text = "".join(LONG)
    replies = [one for one in found.replies.values() if one.status is MessageStatus.completed]
    assert [one.content == text for one in replies] == [True] * (WARM + STALLED)
    assert "Traceback" not in shop.server.log


@pytest.mark.slow
async def test_clients_that_never_read_are_cut_off(tmp_path: Path, database_url: str) -> None:
    async with talkative_shop(tmp_path, database_url) as shop:
        clients = await listen_without_reading(shop)
        connected = shop.descriptors

        async def are_gone() -> bool:
            return shop.descriptors <= connected - STALLED

        async with asyncio.timeout(MOST_STALLED_S):
            await wait_until(are_gone)
        for client in clients:
            client.drop(with_reset=False)
