import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from retinue.kit.http.server import ConnectionLimits, NotStarted, bind, serve
from tests.kit.served import PATIENCE_S, Client


async def test_the_real_address_is_told_before_the_application_starts():
    told = []

    async def never_starts(scope, receive, send):
        await receive()
        told.append("started")
        await send({"type": "lifespan.startup.failed"})

    with pytest.raises(NotStarted):
        await serve(
            never_starts,
            host="127.0.0.1",
            port=0,
            limits=ConnectionLimits(),
            on_bound=lambda bound: told.append((bound[0][0], bound[0][1] > 0)),
            on_ready=lambda: told.append("ready"),
        )
    assert told == [("127.0.0.1", True), "started"]


def test_a_name_with_several_addresses_gets_one_port():
    sockets = bind("localhost", 0)
    try:
        assert len({listener.getsockname()[1] for listener in sockets}) == 1
        assert all(listener.getsockname()[0] in {"127.0.0.1", "::1"} for listener in sockets)
        sockets[0].listen()
        host, port = sockets[0].getsockname()[:2]
        with pytest.raises(OSError, match="in use"):
            bind(host, port)
    finally:
        for listener in sockets:
            listener.close()


SERVER = Path(__file__).with_name("stopping_server.py")


@pytest.fixture
def connect():
    clients = []

    def client(port, request):
        clients.append(Client(port).send(request))
        return clients[-1]

    yield client
    for made in clients:
        made.close()


@pytest.fixture
def process():
    """A server in a process of its own; its address is the first line it prints."""
    running = []

    def start(grace_s):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(SERVER), str(grace_s)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        running.append(child)
        return child, int(child.stdout.readline())

    yield start
    for child in running:
        child.kill()
        child.wait()
        child.stdout.close()


def test_sigterm_lets_answers_finish_and_streams_say_goodbye(process, connect):
    child, port = process(grace_s=5)
    slow = [connect(port, b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(20)]
    stream = connect(port, b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
    idle = connect(port, b"GET /slow")
    stream.head()
    assert [child.stdout.readline() for _ in slow] == ["entered\n"] * 20
    child.send_signal(signal.SIGTERM)
    answers = [client.answer() for client in slow]
    assert {(answer.status, answer.body, answer.headers["connection"]) for answer in answers} == {
        (200, b"slow" * 10_000, "close")
    }
    ended = b"".join(stream._chunks())
    assert ended.endswith(
        b'event: error\nid: 1\ndata: {"code":"server_shutdown",'
        b'"message":"The server is shutting down. Connect again."}\n\n'
    )
    assert idle.is_closed()
    assert child.stdout.read().splitlines() == ["lifespan ended", "in order"]
    assert child.wait(PATIENCE_S) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_request_that_outlasts_the_grace_is_cut_off(process, connect):
    child, port = process(grace_s=0.3)
    client = connect(port, b"GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n")
    assert child.stdout.readline() == "entered\n"
    child.send_signal(signal.SIGTERM)
    assert client.answer().status == 503
    assert child.wait(PATIENCE_S) == 0
    assert child.stdout.read().splitlines() == ["cancelled", "lifespan ended", "in order"]
