"""One request and its response: headers and body are sent in one write, failures in our error format."""

import asyncio
from collections.abc import Iterable
from typing import Any

import structlog
from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from retinue.kit.errors import RetinueError, ServerShutdown
from retinue.kit.http.connections import raw_error_response

log = structlog.get_logger("retinue.http")

_BODILESS = (204, 304)


class ServerExchange(RequestResponseCycle):
    head = b""
    """The status line and headers, held back to be sent with the first part of the body."""

    async def run_asgi(self, app: ASGI3Application) -> None:
        fault: RetinueError | None = None
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            fault = ServerShutdown()
            raise
        except Exception:
            log.exception("application_failed")
        finally:
            if not (self.response_complete or self.disconnected):
                self._close_unfinished(fault or RetinueError())
            self.on_response = _nothing

    def _close_unfinished(self, fault: RetinueError) -> None:
        if self.response_started and not self.head:
            # Only an aborted connection shows the client that the response is incomplete.
            self.transport.abort()
            return
        self.response_started = self.response_complete = True
        self.transport.write(raw_error_response(fault))
        self.transport.close()

    async def send(self, message: ASGISendEvent) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if message["type"] == "http.response.start":
            if self.response_started:
                raise RuntimeError("the response has already started")
            self.response_started = True
            self.waiting_for_100_continue = False
            self.head = self._head(message["status"], message["headers"])
        elif message["type"] == "http.response.body" and self.response_started and not self.response_complete:
            self._write(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            raise RuntimeError(f"{message['type']} is out of order")

    def _head(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        lines = [STATUS_LINE[status]]
        for name, value in (*self.default_headers, *headers):
            if name == b"content-length":
                self.expected_content_length = int(value)
                self.chunked_encoding = False
            lines.append(b"%b: %b\r\n" % (name, value))
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        if self.chunked_encoding is None and self.scope["method"] != "HEAD" and status not in _BODILESS:
            self.chunked_encoding = True
            lines.append(b"transfer-encoding: chunked\r\n")
        head = b"".join(lines)
        # One check of the whole instead of two per header: a line break in a value would add a line.
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines):
            raise RuntimeError("a header contains a line break")
        return head + b"\r\n"

    def _write(self, body: bytes, *, is_last: bool) -> None:
        head, self.head = self.head, b""
        if self.scope["method"] == "HEAD":
            self.expected_content_length = 0
            content = head
        elif self.chunked_encoding:
            content = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if head or is_last:
                content = b"%b%b%b" % (head, content, b"0\r\n\r\n" if is_last else b"")
        else:
            self.expected_content_length -= len(body)
            content = head + body
        if self.expected_content_length < 0 or (is_last and self.expected_content_length):
            raise RuntimeError("the body does not have the declared length")
        if content:
            self.transport.write(content)
        if is_last:
            self._complete()

    def _complete(self) -> None:
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


def _nothing(*_: Any) -> None:
    pass
