"""I1, I2, R7 against the real server: greedy, lying and slow clients hurt nobody, and its end is orderly."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Serving
from tests.e2e.crashing import problems, quiesce, sign_in
from tests.e2e.load import Inviters, call
from tests.e2e.processes import ServerProcess
from tests.e2e.watcher import MOST_EXIT_S, Watcher
from tests.kit.served import Client

pytestmark = pytest.mark.either_database

MB = 1024 * 1024
MOST_GROWTH = 50 * MB
POST = b"POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n"
PART = b'--x\r\nContent-Disposition: form-data; name="avatar"; filename="a.png"\r\n\r\n'


@pytest.fixture
async def server(serving: Serving) -> AsyncIterator[ServerProcess]:
    async with serving() as process:
        await process.start()
        yield process


def resident_bytes(server: ServerProcess) -> int:
    """Return the resident memory of the server; the average if there are several processes."""
    kilobytes = 0
    for pid in server.pids:
        (found,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        kilobytes += int(found)
    return kilobytes * 1024 // len(server.pids)


def request(body: bytes) -> bytes:
    return POST + b"Content-Length: %d\r\n\r\n" % len(body) + body


def send_and_read(client: Client, data: bytes) -> tuple[int, str]:
    answer = client.send(data).answer()
    return answer.status, answer.json()["error"]["code"]


def endless_chunks(client: Client, head: bytes, first: bytes = b"") -> tuple[int, str]:
    """A hundred megabytes in pieces of one, without looking at the answer."""
    piece = b" " * MB
    client.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
    if first:
        client.send(b"%x\r\n%b\r\n" % (len(first), first))
    client.send_until_cut(b"%x\r\n%b\r\n" % (len(piece), piece), 100)
    answer = client.answer()
    return answer.status, answer.json()["error"]["code"]


def endless_upload(client: Client, token: str) -> tuple[int, str]:
    head = (
        b"POST /api/v1/profile/avatar HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n"
        % token.encode()
    )
    return endless_chunks(client, head + FORM, PART)


BAD: dict[str, tuple[Callable[[Client], tuple[int, str]], tuple[int, str]]] = {
    "100 MB in chunks": (lambda client: endless_chunks(client, POST), (413, "payload_too_large")),
    "a length of 100 MB": (
        lambda client: send_and_read(client, POST + b"Content-Length: 100000000\r\n\r\n"),
        (413, "payload_too_large"),
    ),
    "a huge length": (
        lambda client: send_and_read(client, POST + b"Content-Length: 999999999999999999999\r\n\r\n{}"),
        (400, "bad_request"),
    ),
    "a negative length": (
        lambda client: send_and_read(client, POST + b"Content-Length: -1\r\n\r\n{}"),
        (400, "bad_request"),
    ),
    "a length that is too short": (
        lambda client: send_and_read(client, POST + b"Content-Length: 2\r\n\r\n{}and more"),
        (422, "validation_error"),
    ),
    "both length and chunks": (
        lambda client: send_and_read(
            client, POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        (400, "bad_request"),
    ),
    "100,000 levels": (lambda client: send_and_read(client, request(b"[" * 100_000)), (400, "invalid_json")),
    "100,000 levels of objects": (
        lambda client: send_and_read(client, request(b'{"a":' * 100_000)),
        (400, "invalid_json"),
    ),
    "100,000 keys": (
        lambda client: send_and_read(
            client, request(b"{" + b",".join(b'"%d":0' % number for number in range(100_000)) + b"}")
        ),
        (400, "invalid_json"),
    ),
    "a number of a million digits": (
        lambda client: send_and_read(client, request(b'{"email":' + b"9" * 1_000_000 + b"}")),
        (400, "invalid_json"),
    ),
}


@contextlib.contextmanager
def connect_client(server: ServerProcess) -> Iterator[Client]:
    client = Client(server.port)
    try:
        yield client
    finally:
        client.close()


def misbehave(server: ServerProcess, token: str) -> dict[str, tuple[int, str]]:
    outcomes = {}
    for name, (act, _) in BAD.items():
        with connect_client(server) as client:
            outcomes[name] = act(client)
    with connect_client(server) as client:
        outcomes["100 MB of a file"] = endless_upload(client, token)
    with connect_client(server) as client:
        client.send(POST + b"Content-Length: 1000\r\n\r\n{")
    return outcomes


async def ends_in_order(server: ServerProcess) -> bool:
    async with asyncio.timeout(MOST_EXIT_S):
        return await server.stop() == 0


async def test_greedy_and_lying_clients_are_refused_and_cost_nothing(server: ServerProcess) -> None:
    token = await sign_in(server.port)
    before = resident_bytes(server)
    watcher = Watcher(server)
    outcomes = await asyncio.to_thread(misbehave, server, token)
    assert await watcher.finish() > 3
    expected = {name: outcome for name, (_, outcome) in BAD.items()}
    assert outcomes == {**expected, "100 MB of a file": (413, "file_too_large")}
    assert resident_bytes(server) - before < MOST_GROWTH
    assert (await call(server.port, "GET", "/auth/me", token=token))[0] == 200
    assert await ends_in_order(server)
    assert "Traceback" not in server.log


async def drip(server: ServerProcess, start: bytes) -> asyncio.StreamWriter:
    """A client that has sent the beginning of something and then takes its time."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(start)
    return writer


@pytest.mark.campaign
async def test_slow_clients_do_not_hold_up_others_nor_the_end(server: ServerProcess) -> None:
    token = await sign_in(server.port)
    before = resident_bytes(server)
    heads = [await drip(server, b"GET /health HTTP/1.1\r\nHo") for _ in range(200)]
    bodies = [await drip(server, POST + b"Content-Length: 1000\r\n\r\n{") for _ in range(200)]
    watcher = Watcher(server)
    for round_ in range(5):
        for writer in (*heads, *bodies):
            writer.write(b"s" if round_ == 0 else b"x")
        for _ in range(10):
            status, _ = await asyncio.wait_for(call(server.port, "GET", "/auth/me", token=token), 5)
            assert status == 200
    assert await watcher.finish() > 3
    assert resident_bytes(server) - before < MOST_GROWTH
    for writer in bodies:
        writer.close()
    assert await ends_in_order(server)
    assert "Traceback" not in server.log
    for writer in heads:
        writer.close()


@pytest.mark.slow
async def test_slow_bodies_are_given_up_at_the_end(server: ServerProcess) -> None:
    bodies = [await drip(server, POST + b"Content-Length: 1000\r\n\r\n{") for _ in range(20)]
    await asyncio.wait_for(call(server.port, "GET", "/health"), 5)
    assert await ends_in_order(server)
    for writer in bodies:
        writer.close()


@pytest.mark.slow
async def test_requests_under_way_at_the_end_are_answered(serving: Serving) -> None:
    """The hash of a password takes long enough to be caught in the middle of it."""
    async with serving(RETINUE_PASSWORD_COST="65536,3,1") as server:
        await server.start()
        await answered_at_the_end(server)


async def answered_at_the_end(server: ServerProcess) -> None:
    bodies = [{"email": f"nobody{number}@example.com", "password": "Battery-2"} for number in range(8)]
    logins = [asyncio.create_task(call(server.port, "POST", "/auth/login", body=body)) for body in bodies]
    await asyncio.wait(logins, return_when=asyncio.FIRST_COMPLETED)
    assert not all(login.done() for login in logins)
    assert await ends_in_order(server)
    assert {status for status, _ in await asyncio.gather(*logins)} == {401}


@pytest.mark.slow
async def test_no_answer_is_cut_and_nothing_lost_when_the_server_is_restarted_under_load(
    server: ServerProcess,
) -> None:
    inviters = Inviters(server.port, await sign_in(server.port), clients=8)
    inviters.start()
    for _ in range(3):
        await asyncio.sleep(0.3)
        assert await ends_in_order(server)
        await server.start()
    ledger = await inviters.finish()
    await quiesce(server)
    assert await ends_in_order(server)
    assert len(ledger.acked) > 20
    assert ledger.halves == []
    assert await problems(server, ledger) == []
