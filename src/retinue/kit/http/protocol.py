"""An HTTP/1.1 server connection, with limits against slow, greedy and malformed clients (ADR 1)."""

import asyncio
import urllib.parse
from enum import IntEnum
from typing import Any, cast

import httptools
from uvicorn._types import ASGIVersions
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from retinue.kit.errors import RetinueError
from retinue.kit.http.connections import BadRequest, Connections, HeadersTooLarge, raw_error_response
from retinue.kit.http.exchange import ServerExchange
from retinue.kit.http.light_event import LightEvent
from retinue.kit.json_types import JsonObject

_UNSENT_BYTES = 16 * 1024
_ASGI: ASGIVersions = {"version": "3.0", "spec_version": "2.3"}


class Phase(IntEnum):
    HEAD = 0
    BODY = 1
    IDLE = 2
    REFUSED = 3


HEAD, BODY, IDLE, REFUSED = Phase


class Flow(FlowControl):
    """uvicorn's flow control with a lighter event."""

    def __init__(self, transport: asyncio.Transport) -> None:  # without the base's, which creates an Event
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._is_writable_event = cast("asyncio.Event", LightEvent(is_set=True))


class ServerConnection(HttpToolsProtocol):
    """uvicorn's connection with limits; it has no timers, a periodic sweep calls `is_overdue`."""

    # Slots, because uvicorn's own attributes already fill the compact size of an instance dict.
    __slots__ = (
        "hosts",
        "is_last",
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
    cycle: ServerExchange

    def __init__(self, config: Any, server_state: Any, app_state: JsonObject, _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.limits = self.server_state.limits
        # Pipelined requests, the next one last; uvicorn's queue takes a kilobyte.
        self.waiting: list[ServerExchange] = []
        del self.pipeline
        self.peer: str | None = None
        self.running: ServerExchange | None = None
        self.phase = HEAD
        # Start of the current wait; None until a sweep first sees it.
        self.since: float | None = None
        self.received = 0
        self.unframed = 0
        self.hosts = 0
        self.is_last = False
        self.unsent = 0
        self.stuck_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = Flow(transport)
        # uvloop needs three times the size of small unsent writes; data waits in the sender's queue instead.
        transport.set_write_buffer_limits(high=_UNSENT_BYTES)
        self.peer = self.server_state.peer(self.client)
        if self.peer is not None and not self.server_state.join(self.peer):
            self.phase = REFUSED
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.peer is not None:
            self.server_state.leave(self.peer)
        # uvicorn notifies only the newest request; with pipelining the running one is older.
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
            # Neither body nor complete headers: an endless header, trailer or chunk extension.
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
            return  # a trailer; the request has been checked already and must not change
        name = name.lower()
        if name == b"host":
            self.hosts += 1
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        elif name == b"transfer-encoding" and value.lower() != b"chunked":
            raise BadRequest("Only the chunked transfer encoding is supported.")
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        parser = self.parser
        method = parser.get_method()
        if parser.should_upgrade() and method != b"CONNECT":
            return
        version = parser.get_http_version()
        self._check_head(version)
        url = httptools.parse_url(self.url)
        if url.schema is not None:
            self._use_authority(url)
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

    def _use_authority(self, url: Any) -> None:
        """Let the host of a target in absolute form replace the header (RFC 9112, section 3.2.2)."""
        host = b"[%b]" % url.host if b":" in url.host else url.host
        authority = host if url.port is None else b"%b:%d" % (host, url.port)
        others = [header for header in self.headers if header[0] != b"host"]
        self.headers = [*others, (b"host", authority)]

    def _check_head(self, version: str) -> None:
        limits = self.limits
        if len(self.headers) > limits.headers:
            raise HeadersTooLarge(f"A request may have at most {limits.headers} headers.")
        # The bytes read so far may include the body, so the exact size is computed only now.
        if self.unframed > limits.head_bytes:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > limits.head_bytes:
                raise HeadersTooLarge
        if version == "1.1":
            if self.hosts != 1:
                raise BadRequest("A request must have exactly one Host header.")
        elif (
            version != "1.0"
            or self.hosts > 1
            or any(name == b"transfer-encoding" for name, _ in self.headers)
        ):
            raise BadRequest

    def _begin_exchange(self, *, keep_alive: bool) -> None:
        previous = self.cycle
        self.cycle = exchange = ServerExchange(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=cast("asyncio.Event", LightEvent()),
            expect_100_continue=self.expect_100_continue,
            keep_alive=keep_alive and not self.is_last,
            on_response=self.on_response_complete,
        )
        if previous is None or previous.response_complete:
            self._run(exchange)
        elif len(self.waiting) < self.limits.pipelined:
            self.flow.pause_reading()
            self.waiting.insert(0, exchange)
        else:
            raise BadRequest("Too many pipelined requests. Wait for responses before sending more.")

    def _run(self, exchange: ServerExchange) -> None:
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
            return  # the parser stopped at an upgrade; the request is parsed again without it
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
        """Decline a protocol upgrade by parsing the request again without the header.

        Otherwise the parser would treat the body as the next request, which allows request smuggling.
        """
        head = [
            b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        ]
        head += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.unframed = 0
        self.data_received(b"\r\n".join(head) + b"\r\n\r\n" + rest)

    def _refuse(self, error: RetinueError) -> None:
        """Send the error and stop reading; a response already in progress is completed."""
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
        self.transport.write(raw_error_response(error))
        # Closing now could reset the connection while the peer still sends, and the response would be lost.
        self.transport.write_eof()
        self.flow.resume_reading()

    @staticmethod
    def _disconnect(exchange: ServerExchange) -> None:
        if not exchange.response_complete:
            exchange.disconnected = True
            exchange.message_event.set()

    def shutdown(self) -> None:
        self.waiting.clear()
        if self._is_answering() and self.running is not None:
            self.running.keep_alive = False
        else:
            self.transport.close()

    def drain(self, *, may_close_idle: bool) -> None:
        """End the connection after the response in progress, or after the next one."""
        self.is_last = True
        if self._is_answering() and self.running is not None:
            # A head that has left says that the connection is kept.
            has_left = self.running.response_started and not self.running.head
            if not self.waiting and not has_left:
                self.running.keep_alive = False
        elif may_close_idle and self.phase == IDLE:
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
            is_slow = False  # the server makes the client wait
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
