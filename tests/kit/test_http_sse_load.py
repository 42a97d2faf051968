import asyncio
import random
import threading

from retinue.kit.http.sse import ServerSentEvent, stream
from tests.kit.served import PATIENCE_S, serve_app


class StreamingApp:
    """Streams without end behind a real server, and counts its producers."""

    def __init__(self):
        self.opened = self.closed = 0
        self.all_closed = threading.Event()
        self.expected = 0

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await stream(send, receive, self.events(pause=scope["path"] == "/slow"), headers=[])

    async def events(self, *, pause):
        self.opened += 1
        try:
            number = 0
            while True:
                number += 1
                yield ServerSentEvent("content_delta", b'"%b"' % (b"token " * (1 if pause else 2000)), number)
                await asyncio.sleep(0.001 if pause else 0)
        finally:
            self.closed += 1
            if self.closed == self.expected:
                self.all_closed.set()


def test_clients_that_drop_at_any_byte_leave_nothing_running():
    app = StreamingApp()
    app.expected = 60
    chance = random.Random(4)
    with serve_app(app, connections_per_peer=1000) as server:
        clients = [server.client().send(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(60)]
        for client in clients:
            client.socket.recv(chance.randrange(1, 2000))
            client.close()
        assert app.all_closed.wait(5)
    assert app.opened == 60


def test_clients_that_never_read_are_cut_off_while_others_are_served():
    app = StreamingApp()
    app.expected = 10
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    with serve_app(app) as server:
        clients = [server.client(receive_buffer=4096).send(request) for _ in range(10)]
        for client in clients:
            client.socket.recv(100)
        server.clock.wait_for_sweeps(20)
        reader = server.client().send(request.replace(b"/ ", b"/slow "))
        reader.head()
        for _ in range(3):
            server.clock.pass_time(16)
        assert app.all_closed.wait(PATIENCE_S)
        assert app.opened - app.closed == 1
        seen = b""
        while seen.count(b"event: content_delta") < 20:
            seen += reader.socket.recv(65536)
