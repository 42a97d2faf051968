"""One timer watches a whole body: it counts only the time that is spent waiting."""

import asyncio

import pytest

from retinue.kit.egress import Egress, EgressTimeout
from retinue.kit.settings import LOOPBACK
from tests.kit.egress_listener import listening

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Gate:
    """Sends a chunk each time it is opened, and one before."""

    def __init__(self):
        self.opened = asyncio.Semaphore(1)

    async def answer(self, writer):
        writer.write(CHUNKED)
        while True:
            await self.opened.acquire()
            writer.write(b"1\r\nx\r\n")
            await writer.drain()


async def test_a_reader_that_takes_its_time_is_no_stall():
    gate = Gate()
    async with (
        listening(gate.answer) as server,
        Egress(LOOPBACK) as egress,
        egress.request("GET", server.url, timeout_s=30, stall_timeout_s=0.2) as response,
    ):
        chunks = response.iter_bytes()
        for _ in range(2):
            assert await anext(chunks) == b"x"
            await asyncio.sleep(0.25)
            gate.opened.release()
        assert await anext(chunks) == b"x"
        with pytest.raises(EgressTimeout):
            await anext(chunks)


async def test_the_wall_time_passes_while_the_reader_is_busy():
    gate = Gate()
    async with (
        listening(gate.answer) as server,
        Egress(LOOPBACK) as egress,
        egress.request("GET", server.url, timeout_s=0.2) as response,
    ):
        chunks = response.iter_bytes()
        assert await anext(chunks) == b"x"
        gate.opened.release()
        await asyncio.sleep(0.25)
        with pytest.raises(EgressTimeout):
            await anext(chunks)


def watching_timers() -> list[str]:
    scheduled = asyncio.get_running_loop()._scheduled
    return [repr(timer) for timer in scheduled if not timer.cancelled() and "_StallWatch" in repr(timer)]


async def test_nothing_watches_a_body_that_was_read_or_left():
    gate = Gate()
    async with listening() as ended, listening(gate.answer) as endless, Egress(LOOPBACK) as egress:
        async with egress.request("GET", ended.url, timeout_s=30) as response:
            assert await response.read() == b"ok"
            assert watching_timers() == []
        async with egress.request("GET", endless.url, timeout_s=30) as response:
            chunks = response.iter_bytes()
            await anext(chunks)
            # What is there already needs no patience.
            assert watching_timers() == []
            waiting = asyncio.ensure_future(anext(chunks))
            await asyncio.sleep(0)
            assert len(watching_timers()) == 1
            waiting.cancel()
        # A generator that is left is closed by the event loop, a few turns later.
        async with asyncio.timeout(5):
            while watching_timers():
                await asyncio.sleep(0)
