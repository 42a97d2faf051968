"""A reader that naps between the pieces of a body is woken for many of them at once, and misses none."""

import asyncio

import pytest
import uvloop

from retinue.kit.egress import Egress, EgressFailed
from retinue.kit.settings import LOOPBACK
from tests.kit.certificates import certificate_for
from tests.kit.egress_listener import listening

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def answer_with_pauses(*pauses_s: float, end: bytes = END):
    """Says a number after each pause."""

    async def answer(writer):
        writer.write(CHUNKED)
        for number, pause_s in enumerate(pauses_s):
            await asyncio.sleep(pause_s)
            writer.write(b"3\r\n%02d \r\n" % number)
            await writer.drain()
        writer.write(end)
        await writer.drain()
        if not end:
            writer.transport.abort()

    return answer


def numbers(count: int) -> bytes:
    return b"".join(b"%02d " % number for number in range(count))


async def read_pieces(egress: Egress, url: str, *, nap_s: float) -> list[bytes]:
    async with egress.request("GET", url, timeout_s=30) as response:
        response.nap_s = nap_s
        return [piece async for piece in response.iter_bytes()]


async def test_many_small_pieces_wake_a_napping_reader_seldom():
    async with listening(answer_with_pauses(*[0.002] * 50)) as server, Egress(LOOPBACK) as egress:
        pieces = await read_pieces(egress, server.url, nap_s=0.05)
    assert b"".join(pieces) == numbers(50)
    assert len(pieces) < 25


async def test_pieces_that_come_slowly_are_not_kept():
    async with listening(answer_with_pauses(0, 0.06, 0.06, 0.06)) as server, Egress(LOOPBACK) as egress:
        assert await read_pieces(egress, server.url, nap_s=0.01) == [b"00 ", b"01 ", b"02 ", b"03 "]


async def test_the_end_of_a_body_ends_the_nap():
    async with (
        listening(answer_with_pauses(0, 0.01)) as server,
        Egress(LOOPBACK) as egress,
        asyncio.timeout(5),
    ):
        pieces = await read_pieces(egress, server.url, nap_s=0.05)
        assert b"".join(pieces) == numbers(2)


async def test_a_connection_is_fit_for_the_next_call_after_a_nap():
    async with (
        listening(answer_with_pauses(0, *[0.001] * 20)) as server,
        Egress(LOOPBACK) as egress,
        asyncio.timeout(10),
    ):
        server.hangs_up = False
        for _ in range(10):
            assert b"".join(await read_pieces(egress, server.url, nap_s=0.004)) == numbers(21)
        assert server.connections == 1


async def test_what_came_before_a_connection_broke_is_heard_first():
    said = bytearray()

    async def listen(response):
        async for piece in response.iter_bytes():
            said.extend(piece)

    async with (
        listening(answer_with_pauses(0, 0.005, 0.005, end=b"")) as server,
        Egress(LOOPBACK) as egress,
        egress.request("GET", server.url, timeout_s=30) as response,
    ):
        response.nap_s = 0.05
        with pytest.raises(EgressFailed):
            await listen(response)
    assert said == numbers(3)


async def test_more_than_may_wait_for_a_napping_reader_makes_the_other_side_wait():
    pieces = 64

    async def answer(writer):
        writer.write(CHUNKED)
        for _ in range(pieces):
            writer.write(b"10000\r\n%b\r\n" % (b"x" * 65536))
            await writer.drain()
        writer.write(END)

    async with (
        listening(answer) as server,
        Egress(LOOPBACK) as egress,
        egress.request("GET", server.url, timeout_s=30, max_bytes=pieces * 65536) as response,
        asyncio.timeout(20),
    ):
        response.nap_s = 0.01
        taken = [len(piece) async for piece in response.iter_bytes()]
    assert sum(taken) == pieces * 65536
    assert max(taken) <= 1024 * 1024


@pytest.mark.parametrize(
    "make_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)
def test_it_is_the_same_on_an_encrypted_connection_and_on_either_event_loop(make_loop, tmp_path):
    server_tls, trusted = certificate_for("localhost", tmp_path)

    async def call_again_and_again() -> int:
        async with (
            listening(answer_with_pauses(0, *[0.001] * 30), "127.0.0.2", tls=server_tls) as server,
            Egress(["127.0.0.2"], ca_bundle=trusted) as egress,
            asyncio.timeout(20),
        ):
            server.hangs_up = False
            for _ in range(10):
                pieces = await read_pieces(egress, f"https://127.0.0.2:{server.port}/", nap_s=0.008)
                assert b"".join(pieces) == numbers(31)
            return server.connections

    with asyncio.Runner(loop_factory=make_loop) as runner:
        assert runner.run(call_again_and_again()) == 1
