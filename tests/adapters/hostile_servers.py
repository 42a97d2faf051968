"""Servers that speak just enough of a database's protocol to do harm with it."""

import asyncio
import contextlib
import struct
from dataclasses import replace

from tests.loopback_server import serve_on_loopback

CLIENT_PROTOCOL_41, CLIENT_PLUGIN_AUTH, CLIENT_SECURE = 1 << 9, 1 << 19, 1 << 15


@contextlib.asynccontextmanager
async def accepting(handle):
    """Run `handle(reader, writer)` for each connection; gives the port."""

    async def serve(reader, writer) -> None:
        try:
            await handle(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            await abort_connection(writer)

    async with serve_on_loopback(serve) as port:
        yield port


async def abort_connection(writer) -> None:
    writer.transport.abort()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def serving(serve):
    """Run `serve(read, writer)` for each connection; gives the port and all bytes received."""
    received = bytearray()

    async def handle(reader, writer) -> None:
        async def read(number: int) -> bytes:
            data = await reader.readexactly(number)
            received.extend(data)
            return data

        await serve(read, writer)
        while data := await reader.read(65536):
            received.extend(data)

    async with accepting(handle) as port:
        yield port, received


async def _relay(reader, writer, change=None) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(change(data) if change else data)
            change = None
            await writer.drain()
    writer.close()


def _without_tls_flag(greeting: bytes) -> bytes:
    """MySQL's greeting with the flag for TLS taken out."""
    flags = greeting.index(b"\0", 5) + 14
    return greeting[: flags + 1] + bytes([greeting[flags + 1] & ~0x08]) + greeting[flags + 2 :]


@contextlib.asynccontextmanager
async def without_tls(shop):
    """Yield a proxy that tells the client that the server has no TLS."""

    async def handle(reader, writer) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", shop.port)
        try:
            if shop.db_type == "postgresql":
                first = await reader.readexactly(8)
                if first[4:] == b"\x04\xd2\x16\x2f":
                    writer.write(b"N")
                else:
                    back.write(first)
            change = _without_tls_flag if shop.db_type == "mysql" else None
            await asyncio.gather(_relay(reader, back), _relay(there, writer, change))
        finally:
            await abort_connection(back)

    async with accepting(handle) as port:
        yield replace(shop, port=port)


def packet(number: int, payload: bytes) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def mysql_greeting(plugin: bytes = b"mysql_native_password") -> bytes:
    flags = CLIENT_PROTOCOL_41 | CLIENT_PLUGIN_AUTH | CLIENT_SECURE
    version, thread, salt = b"\x0a8.0.0\0", struct.pack("<I", 1), b"12345678\0"
    low, high = struct.pack("<H", flags & 0xFFFF), struct.pack("<H", flags >> 16)
    more_salt = b"\x15" + b"\0" * 10 + b"123456789012\0"
    return packet(0, version + thread + salt + low + b"\x2d\x02\x00" + high + more_salt + plugin + b"\0")


async def read_packet(read) -> bytes:
    header = await read(4)
    return await read(int.from_bytes(header[:3], "little"))


MYSQL_OK = b"\x00\x00\x00\x02\x00\x00\x00"


def mysql_that_answers(answer: bytes, plugin: bytes = b"mysql_native_password"):
    """Lets anybody in, and answers each statement with the same packet."""

    async def serve(read, writer) -> None:
        writer.write(mysql_greeting(plugin))
        await read_packet(read)
        writer.write(packet(2, MYSQL_OK))
        while True:
            await read_packet(read)
            writer.write(packet(1, answer))

    return serve


async def flood(writer, piece: bytes, most: int) -> int:
    """Send until the other side hangs up; return the number of bytes."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            writer.write(piece)
            sent += len(piece)
            await writer.drain()
    return sent
