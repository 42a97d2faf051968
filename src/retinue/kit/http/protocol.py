"""One HTTP/1.1 connection: what a slow, greedy or confused peer can cost is bounded here."""

import asyncio
import urllib.parse
from enum import IntEnum
from typing import Any, cast

import httptools
import structlog
from uvicorn._types import ASGIVersions
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from retinue.kit.errors import RetinueError
from retinue.kit.http.connections import BadRequest, Connections, HeadersTooLarge, refusal
from retinue.kit.http.exchange import Exchange
from retinue.kit.http.signals import Signal

log = structlog.get_logger("retinue.http")

_UNSENT_BYTES = 16 * 1024
_ASGI: ASGIVersions = {"version": "3.0", "spec_version": "2.3"}


class Phase(IntEnum):
    HEAD = 0
    BODY = 1
    IDLE = 2
    REFUSED = 3


HEAD, BODY, IDLE, REFUSED = Phase


class Flow(FlowControl):
    """uvicorn's flow control, with a lighter signal."""

    def __init__(self, transport: asyncio.Transport) -> None:  # not the base's, which makes an Event
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._is_writable_event = cast("asyncio.Event", Signal(is_set=True))


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits; it keeps no timers, `is_overdue` is asked by the sweep."""

    # Beside the attributes of uvicorn's class, which fill what Python keeps small.
    __slots__ = (
        "hosts",
        "limits",
        "peer",
        "phase",
        "received",
        "running",
        "since",
        "stuck_since",
        "unframed",
        "unsent",
        "waiting",
    )

    server_state: Connections
    cycle: Exchange

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.limits = self.server_state.limits
        # Requests that were sent ahead of their answers, the next one last; uvicorn's queue takes a kilobyte.
        self.waiting: list[Exchange] = []
        del self.pipeline
        self.peer: str | None = None
        self.running: Exchange | None = None
        self.phase = HEAD
        # When the current wait began; None until a sweep first sees it.
        self.since: float | None = None
        self.received = 0
        self.unframed = 0
        self.hosts = 0
        self.unsent = 0
        self.stuck_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = Flow(transport)
        # uvloop needs three times the bytes of small unsent writes; what waits does so in the sender's queue.
        transport.set_write_buffer_limits(high=_UNSENT_BYTES)
        self.peer = self.server_state.peer(self.client)
        if self.peer is not None and not self.server_state.join(self.peer):
            self.phase = REFUSED
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.peer is not None:
            self.server_state.leave(self.peer)
        # uvicorn tells only the newest request; with pipelining the running one is older.
        if self.running is not None:
            self._disconnect(self.running)
        self.waiting.clear()

    def data_received(self, data: bytes) -> None:
        if self.phase == REFUSED:
            return
        self.unframed += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._feed_without_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, RetinueError) else BadRequest())
        else:
            # What is neither body nor a finished head: an endless header, trailer or chunk extension.
            if self.unframed > self.limits.head_bytes:
                self._refuse(HeadersTooLarge())

    def on_message_begin(self) -> None:
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self.hosts = 0
        if self.phase != HEAD:
            self.phase = HEAD
            self.since = None

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.phase == BODY:
            return  # A trailer: it came after the request was judged, so it must not change it.
        name = name.lower()
        if name == b"host":
            self.hosts += 1
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        elif name == b"transfer-encoding" and value.lower() != b"chunked":
            raise BadRequest("Only the chunked transfer encoding is understood.")
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        parser = self.parser
        method = parser.get_method()
        if parser.should_upgrade() and method != b"CONNECT":
            return
        version = parser.get_http_version()
        self._check_head(version)
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        self.scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": method.decode("ascii"),
            "root_path": "",
            "path": urllib.parse.unquote(path) if "%" in path else path,
            "raw_path": url.path,
            "query_string": url.query or b"",
            "headers": self.headers,
        }
        self.phase = BODY
        self.since = None
        self.received = self.unframed = 0
        self._begin_exchange(keep_alive=version == "1.1" and parser.should_keep_alive())

    def _check_head(self, version: str) -> None:
        limits = self.limits
        if len(self.headers) > limits.headers:
            raise HeadersTooLarge(f"A request may have {limits.headers} headers.")
        # The bytes read so far may belong to the body as well, so they only raise a suspicion.
        if self.unframed > limits.head_bytes:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > limits.head_bytes:
                raise HeadersTooLarge
        if version == "1.1":
            if self.hosts != 1:
                raise BadRequest("A request needs exactly one Host header.")
        elif (
            version != "1.0"
            or self.hosts > 1
            or any(name == b"transfer-encoding" for name, _ in self.headers)
        ):
            raise BadRequest

    def _begin_exchange(self, *, keep_alive: bool) -> None:
        previous = self.cycle
        self.cycle = exchange = Exchange(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=cast("asyncio.Event", Signal()),
            expect_100_continue=self.expect_100_continue,
            keep_alive=keep_alive,
            on_response=self.on_response_complete,
        )
        if previous is None or previous.response_complete:
            self._run(exchange)
        elif len(self.waiting) < self.limits.pipelined:
            self.flow.pause_reading()
            self.waiting.insert(0, exchange)
        else:
            raise BadRequest("Too many requests were sent ahead of their answers.")

    def _run(self, exchange: Exchange) -> None:
        self.running = exchange
        task = self.loop.create_task(exchange.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_body(self, body: bytes) -> None:
        exchange = self.cycle
        self.received += len(body)
        self.unframed = 0
        if exchange.response_complete:
            return
        exchange.body += body
        if len(exchange.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        exchange.message_event.set()

    def on_message_complete(self) -> None:
        if self.phase == HEAD:
            return  # The parser stopped at an upgrade; the request is fed again without it.
        self.phase = IDLE
        self.since = None
        self.unframed = 0
        if not self.cycle.response_complete:
            self.cycle.more_body = False
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.since = None
        self.flow.resume_reading()
        if self.waiting:
            self._run(self.waiting.pop())

    def _feed_without_upgrade(self, rest: bytes) -> None:
        """An offer of another protocol is declined by reading the request as if it had not been made.

        Left alone, the parser would take the body of such a request for the next request: a smuggler's door.
        """
        head = [
            b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        ]
        head += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.unframed = 0
        self.data_received(b"\r\n".join(head) + b"\r\n\r\n" + rest)

    def _refuse(self, error: RetinueError) -> None:
        """Say why, stop listening, and leave an earlier answer under way alone."""
        was_in_body = self.phase == BODY
        self.phase = REFUSED
        self.since = None
        running = self.running
        if running is not None and not running.response_complete:
            if not was_in_body or running is not self.cycle:
                running.keep_alive = False
                self.waiting.clear()
                return
            self._disconnect(running)
            if running.response_started:
                self.transport.abort()
                return
        elif was_in_body:
            self.transport.close()
            return
        self.transport.write(refusal(error))
        # Closing at once would reset the connection under what the peer still sends, and lose the answer.
        self.transport.write_eof()
        self.flow.resume_reading()

    @staticmethod
    def _disconnect(exchange: Exchange) -> None:
        if not exchange.response_complete:
            exchange.disconnected = True
            exchange.message_event.set()

    def shutdown(self) -> None:
        self.waiting.clear()
        if self._is_answering() and self.running is not None:
            self.running.keep_alive = False
        else:
            self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    def _is_answering(self) -> bool:
        running = self.running
        return running is not None and not (running.response_complete or running.disconnected)

    def is_overdue(self, now: float) -> bool:
        if self._is_stuck(now):
            return True
        if self.since is None:
            self.since = now
            return False
        waited = now - self.since
        if self._is_answering():
            return self.phase == BODY and self._is_body_slow(waited, now)
        if self.phase == HEAD:
            return waited > self.limits.head_s
        return waited > (self.limits.idle_s if self.phase == IDLE else self.limits.linger_s)

    def _is_body_slow(self, waited: float, now: float) -> bool:
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            is_slow = False  # It is we who make it wait.
        elif waited < self.limits.body_window_s:
            return False
        else:
            is_slow = self.received < waited * self.limits.body_bytes_per_s
        self.since = now
        self.received = 0
        return is_slow

    def _is_stuck(self, now: float) -> bool:
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self.unsent or self.stuck_since is None:
            self.stuck_since = now
        self.unsent = unsent
        return now - self.stuck_since > self.limits.write_s
