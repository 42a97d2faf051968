"""A real server of ours on its own thread and uvloop, and a raw client that can misbehave."""

import asyncio
import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field

import uvloop

from retinue.kit.clock import ManualClock
from retinue.kit.http.server import ConnectionLimits, serve

PATIENCE_S = 10


class SweepClock(ManualClock):
    """Held time that knows how often a sweep has looked at it."""

    def __init__(self):
        super().__init__()
        self._looks = 0
        self._looked = threading.Condition()

    def monotonic(self):
        with self._looked:
            self._looks += 1
            self._looked.notify_all()
        return super().monotonic()

    def wait_for_sweeps(self, number=2):
        with self._looked:
            target = self._looks + number
            assert self._looked.wait_for(lambda: self._looks >= target, PATIENCE_S)

    def pass_time(self, seconds):
        """Let every connection be seen in its present state, then let time pass, and be seen again."""
        self.wait_for_sweeps()
        self.advance(seconds)
        self.wait_for_sweeps()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    names: list[str] = field(default_factory=list)

    def json(self):
        return json.loads(self.body)


class Client:
    def __init__(self, port, *, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", port))
        self._read = b""

    def send(self, data):
        self.socket.sendall(data)
        return self

    def send_until_cut(self, data, times):
        """Go on sending like a client that does not look at the answer."""
        with contextlib.suppress(ConnectionError):
            for _ in range(times):
                self.socket.sendall(data)
        return self

    def _until(self, mark):
        while mark not in self._read:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError(f"closed after {self._read!r}")
            self._read += data
        found, _, self._read = self._read.partition(mark)
        return found

    def _exactly(self, size):
        while len(self._read) < size:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError(f"closed after {self._read!r}")
            self._read += data
        found, self._read = self._read[:size], self._read[size:]
        return found

    def answer(self):
        lines = self._until(b"\r\n\r\n").decode().split("\r\n")
        pairs = [line.split(": ", 1) for line in lines[1:]]
        headers = {name.lower(): value for name, value in pairs}
        body = b"".join(self._chunks()) if "transfer-encoding" in headers else b""
        if "content-length" in headers:
            body = self._exactly(int(headers["content-length"]))
        status = int(lines[0].split()[1])
        return Answer(status, headers, body, [name.lower() for name, _ in pairs])

    def head(self):
        """The head of an answer whose body goes on."""
        return self._until(b"\r\n\r\n").decode()

    def _chunks(self):
        while size := int(self._until(b"\r\n"), 16):
            yield self._exactly(size)
            self._exactly(2)
        self._exactly(2)

    def is_closed(self):
        """Wait for the end of the connection; return whether nothing else came."""
        try:
            return self._read == b"" and self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def is_open(self):
        self.socket.setblocking(False)
        try:
            return self.socket.recv(1) != b""
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        finally:
            self.socket.settimeout(PATIENCE_S)

    def close(self):
        self.socket.close()


@dataclass
class Served:
    port: int
    clock: SweepClock
    clients: list[Client] = field(default_factory=list)

    def client(self, **options):
        self.clients.append(Client(self.port, **options))
        return self.clients[-1]


@contextlib.contextmanager
def serve_app(app, **limits):
    """The application behind a server that sweeps fifty times a second of real time over held time."""
    clock = SweepClock()
    known = {}
    ready = threading.Event()
    ended = []

    async def main():
        known["stop"] = asyncio.Event()
        known["loop"] = asyncio.get_running_loop()
        await serve(
            app,
            host="127.0.0.1",
            port=0,
            limits=ConnectionLimits(**{"sweep_s": 0.02, **limits}),
            on_bound=lambda bound: known.update(port=bound[0][1]),
            on_ready=ready.set,
            shutting_down=known["stop"],
            shutdown_grace_s=2,
            clock=clock,
        )

    def run():
        try:
            uvloop.run(main())
        except BaseException as error:  # noqa: BLE001 - handed to the test
            ended.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(PATIENCE_S)
    server = Served(known["port"], clock)
    try:
        yield server
    finally:
        for client in server.clients:
            client.close()
        if not ended:
            known["loop"].call_soon_threadsafe(known["stop"].set)
        thread.join(PATIENCE_S)
    assert not ended, ended
