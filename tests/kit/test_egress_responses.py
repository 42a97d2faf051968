import asyncio
import functools
import gzip
import tracemalloc
import zlib
from pathlib import Path

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressTimeout, ResponseTooLarge
from retinue.kit.settings import LOOPBACK
from tests.kit.egress_listener import listening, reply

MEBIBYTE = 1024 * 1024
# Without the time of day, so that the names of the tests stay the same.
gzipped = functools.partial(gzip.compress, mtime=0)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def fetch(url, **options):
    options.setdefault("timeout_s", 5)
    async with Egress(LOOPBACK) as egress, egress.request("GET", url, **options) as response:
        return await response.read()


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def deflate(data: bytes, wbits: int) -> bytes:
    compressor = zlib.compressobj(wbits=wbits)
    return compressor.compress(data) + compressor.flush()


def flooding(head: bytes, piece: bytes, most: int = 256 * MEBIBYTE):
    """An answer that never ends by itself."""

    async def answer(writer):
        writer.write(head)
        await listener[0].flood(writer, piece, most)

    listener = []
    return answer, listener


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 65536),
        (CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
        (CHUNKED, b"1\r\nx\r\n" * 5000),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1100000\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzipped(b"x" * 4096) * 16),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzipped(b"") * 3000),
    ],
    ids=["until-close", "chunked", "tiny-chunks", "declared", "gzip-members", "empty-gzip-members"],
)
async def test_an_endless_body_is_cut_off_at_the_limit_and_hung_up_on(head, piece):
    answer, listener = flooding(head, piece)
    async with listening(answer) as server:
        listener.append(server)
        before = resident_bytes()
        with pytest.raises(ResponseTooLarge) as caught:
            await fetch(server.url, timeout_s=20)
        assert caught.value.code == "output_too_large"
        assert resident_bytes() - before < 20 * MEBIBYTE
        assert server.sent < 16 * MEBIBYTE


async def test_members_that_hold_nothing_cannot_keep_the_server_busy():
    for count, expected in ((1000, b""), (1001, None)):
        async with listening(reply(gzipped(b"") * count, Content_Encoding="gzip")) as server:
            if expected is None:
                with pytest.raises(ResponseTooLarge):
                    await fetch(server.url)
            else:
                assert await fetch(server.url) == expected


async def test_a_declared_length_over_the_limit_is_refused_unread():
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n") as server:
        with pytest.raises(ResponseTooLarge):
            await fetch(server.url)
        async with Egress(LOOPBACK) as egress, egress.request("HEAD", server.url, timeout_s=5) as response:
            assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_bomb_is_never_unfolded(encoding):
    data = bytes(200 * MEBIBYTE)
    bomb = deflate(data, 31 if encoding == "gzip" else 15)
    del data
    assert len(bomb) < MEBIBYTE
    async with listening(reply(bomb, Content_Encoding=encoding)) as server:
        tracemalloc.start()
        with pytest.raises(ResponseTooLarge):
            await fetch(server.url)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 * MEBIBYTE


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("identity", b"plain " * 20_000),
        ("gzip", gzipped(b"plain " * 20_000)),
        ("X-GZIP", gzipped(b"plain " * 10_000) + gzipped(b"plain " * 10_000)),
        ("gzip", gzipped(b"plain " * 20_000) + b"\0\0"),
        ("deflate", deflate(b"plain " * 20_000, 15)),
        ("deflate", deflate(b"plain " * 20_000, -15)),
    ],
)
async def test_accepted_encodings_are_undone(encoding, body):
    async with listening(reply(body, Content_Encoding=encoding)) as server:
        assert await fetch(server.url) == b"plain " * 20_000
        assert await fetch(server.url, max_bytes=120_000) == b"plain " * 20_000
        with pytest.raises(ResponseTooLarge):
            await fetch(server.url, max_bytes=119_999)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"x"),
        ("zstd", b"x"),
        ("gzip, gzip", gzipped(gzipped(b"x"))),
        ("gzip", b"not gzip"),
        ("gzip", gzipped(b"x" * 9000)[:-12]),
        ("gzip", gzipped(b"x")[:-8] + b"\0" * 8),
        ("deflate", b"\x78\x9cjunk"),
    ],
)
async def test_other_or_broken_encodings_are_failures(encoding, body):
    async with listening(reply(body, Content_Encoding=encoding)) as server:
        with pytest.raises(EgressFailed):
            await fetch(server.url)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1e18\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        CHUNKED + b"5\r\nshort",
        CHUNKED + b"zz\r\nx\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"\0" * 100,
        b"",
    ],
)
async def test_an_answer_that_is_not_what_it_says_is_a_failure(answer):
    async def say_and_leave(writer):
        writer.write(answer)
        await writer.drain()

    async with listening(say_and_leave) as server:
        with pytest.raises(EgressFailed):
            await fetch(server.url)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n" + reply(b"whole"),
        b"HTTP/1.0 200 OK\r\n\r\nwhole",
        CHUNKED + b"2;a=b\r\nwh\r\n3\r\nole\r\n0\r\nContent-Encoding: br\r\n\r\n",
        b"HTTP/1.1 200\r\ncontent-length:5\r\nContent-Type: a\r\ncontent-type: b\r\n\r\nwhole",
    ],
    ids=["after an interim answer", "until the close", "in chunks with a trailer", "in another spelling"],
)
async def test_every_way_to_frame_a_body_is_understood(answer):
    async def say_and_leave(writer):
        writer.write(answer)
        await writer.drain()

    async with listening(say_and_leave) as server:
        assert await fetch(server.url) == b"whole"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nX-A: a\nX-B\r\n\r\n",
    ],
)
async def test_an_answer_that_could_be_read_in_two_ways_is_a_failure(answer):
    async with listening(answer) as server:
        with pytest.raises(EgressFailed):
            await fetch(server.url)


async def test_what_follows_a_body_is_not_taken_for_the_next_answer():
    async with (
        Egress(LOOPBACK) as egress,
        listening(reply(b"first") + reply(b"smuggled")) as server,
    ):
        for _ in range(3):
            async with egress.request("GET", server.url, timeout_s=5) as response:
                assert await response.read() == b"first"
        assert server.connections == 3


@pytest.mark.parametrize("framing", [b"Content-Length: 4", b"Transfer-Encoding: chunked"])
async def test_a_body_that_cannot_be_but_is_announced_does_not_begin_the_next_answer(framing):
    async with (
        Egress(LOOPBACK) as egress,
        listening(b"HTTP/1.1 204 No Content\r\n" + framing + b"\r\n\r\n") as server,
    ):
        for _ in range(2):
            async with egress.request("GET", server.url, timeout_s=5) as response:
                assert (response.status, await response.read()) == (204, b"")
        assert server.connections == 2


async def test_a_header_that_is_not_text_can_be_shown_and_stored():
    async with (
        Egress(LOOPBACK) as egress,
        listening(reply(Content_Type="text/plain").replace(b"plain", b"\xff")) as server,
        egress.request("GET", server.url, timeout_s=5) as response,
    ):
        assert response.headers["Content-Type"].encode() == "text/\ufffd".encode()


async def test_a_hundred_thousand_headers_are_refused():
    answer, listener = flooding(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000, 100_000 * 8)
    async with listening(answer) as server:
        listener.append(server)
        with pytest.raises((EgressFailed, ResponseTooLarge)):
            await fetch(server.url)


@pytest.mark.parametrize(("count", "fits"), [(7, True), (9, False)])
async def test_headers_may_have_64_kilobytes_in_all(count, fits):
    headers = {f"X_{number}": "v" * 8000 for number in range(count)}
    async with listening(reply(b"ok", **headers)) as server:
        if fits:
            assert await fetch(server.url) == b"ok"
        else:
            with pytest.raises(ResponseTooLarge, match="header"):
                await fetch(server.url)


async def drip(writer, pieces):
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (CHUNKED, b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzipped(b"")),
    ],
    ids=["body", "chunks", "headers", "interim answers", "empty gzip members"],
)
async def test_a_dripping_server_ends_with_the_wall_time(head, piece):
    async def answer(writer):
        await drip(writer, [head, *[piece] * 500])

    async with listening(answer) as server:
        started = asyncio.get_running_loop().time()
        with pytest.raises(EgressTimeout) as caught:
            await fetch(server.url, timeout_s=0.2)
        assert asyncio.get_running_loop().time() - started < 2
        assert caught.value.code == "timeout"


@pytest.mark.parametrize("begun", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", CHUNKED + b"1\r\nx\r\n"])
async def test_a_stalled_body_ends_with_the_stall_timeout(begun):
    async def answer(writer):
        writer.write(begun)
        await asyncio.Event().wait()

    async with listening(answer) as server:
        with pytest.raises(EgressTimeout):
            async with asyncio.timeout(3):
                await fetch(server.url, timeout_s=60, stall_timeout_s=0.05)


async def test_no_answer_at_all_ends_with_the_wall_time():
    async def answer(_writer):
        await asyncio.Event().wait()

    async with listening(answer) as server:
        with pytest.raises(EgressTimeout):
            await fetch(server.url, timeout_s=0.05)


async def test_a_stream_is_given_line_by_line_as_it_arrives():
    step = asyncio.Event()

    async def answer(writer):
        writer.write(CHUNKED + b"9\r\ndata: 1\r\n\r\n" + b"4\r\n\ndat\r\n")
        await step.wait()
        writer.write(b"8\r\na: 2\n\nen\r\n1\r\nd\r\n0\r\n\r\n")
        await writer.drain()

    async with (
        listening(answer) as server,
        Egress(LOOPBACK) as egress,
        egress.request("GET", server.url, timeout_s=5) as response,
    ):
        lines = response.iter_lines()
        assert [await anext(lines), await anext(lines)] == [b"data: 1", b""]
        step.set()
        assert [line async for line in lines] == [b"data: 2", b"", b"end"]


async def test_leaving_a_body_unread_hangs_up():
    answer, listener = flooding(CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n")
    async with listening(answer) as server, Egress(LOOPBACK) as egress:
        listener.append(server)
        async with egress.request("GET", server.url, timeout_s=5) as response:
            async for _ in response.iter_bytes():
                break
        async with egress.request("GET", server.url, timeout_s=5) as response:
            assert response.headers["transfer-encoding"] == "chunked"
        assert server.connections == 2
