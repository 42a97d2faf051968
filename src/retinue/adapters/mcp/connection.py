"""A connection to one server in the negotiated protocol version."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from retinue import __version__
from retinue.adapters.mcp.argument_headers import header_value
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused, StatusRefused
from retinue.adapters.mcp.event_stream import read_events
from retinue.adapters.mcp.messages import METHOD_NOT_FOUND, McpServer, RpcMessage, ToolListing, read_messages
from retinue.kit.egress import Egress, EgressFailed, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject

# The revision without a handshake: every request states the client and the version.
STATELESS_VERSION = "2026-07-28"
CLIENT_INFO = {"name": "retinue", "version": __version__}

_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LIST_CHANGED = "notifications/tools/list_changed"
_OWN_HEADERS = frozenset({"accept", "content-type", "last-event-id"})
# Callers set their own timeouts; this only ends requests that no one waits for.
_MAX_CALL_SECONDS = 3600.0
_NOTICE_TIMEOUT_SECONDS = 5.0
# A stream usually ends with its answer; waiting for that lets the connection be reused.
_LINGER_SECONDS = 0.05
_MAX_SERVER_REQUESTS = 32
_MAX_RESUMPTIONS = 10
_DEFAULT_RETRY_MS = 500
_MAX_RETRY_MS = 30_000
_MAX_ID_LENGTH = 1024
_REDIRECTS = frozenset({301, 302, 307, 308})
_MAX_REDIRECTS = 3
_MAX_URL_LENGTH = 2048


class _Exchange:
    """A request in progress, whose answer may span several streams."""

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id
        self.last_event_id: str | None = None
        self.retry_ms = _DEFAULT_RETRY_MS
        self.server_requests = 0


class McpConnection:
    """A connection; `version` is None until it is negotiated, `listing` caches the server's tools.

    `list_changes` counts how often the server said that its tools have changed.
    """

    def __init__(self, egress: Egress, server: McpServer, max_bytes: int) -> None:
        self.server = server
        self.version: str | None = None
        self.server_name = ""
        self.session_id: str | None = None
        self.listing: ToolListing | None = None
        self.list_changes = 0
        self._egress = egress
        self._url = server.url
        self._max_bytes = max_bytes
        self._ids = itertools.count(1)
        self._notices: set[asyncio.Task[None]] = set()

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS_VERSION

    async def request(
        self, method: str, params: JsonObject, headers: Mapping[str, str] | None = None
    ) -> JsonObject:
        exchange = _Exchange(next(self._ids))
        try:
            answer = await self._send_request(exchange, method, params, headers or {})
        except asyncio.CancelledError:
            # Without a session, closing the stream cancels the request; with one, the server must be told.
            if self.version is not None and not self.is_stateless:
                cancellation = {"requestId": exchange.request_id, "reason": "The caller no longer waits."}
                self._send_in_background(self.notify("notifications/cancelled", cancellation))
            raise
        return answer.outcome()

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        await self._post({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    async def close(self) -> None:
        """Wait briefly for pending notices, then end the session."""
        if self._notices:
            await asyncio.wait(self._notices, timeout=_NOTICE_TIMEOUT_SECONDS)
        if self.session_id is not None:
            with suppress(RetinueError):
                async with self._send("DELETE", timeout_s=_NOTICE_TIMEOUT_SECONDS):
                    pass

    async def _send_request(
        self, exchange: _Exchange, method: str, params: JsonObject, headers: Mapping[str, str]
    ) -> RpcMessage:
        body = {"jsonrpc": "2.0", "id": exchange.request_id, "method": method, "params": params}
        if self.is_stateless:
            body["params"] = {**params, "_meta": _META}
            headers = {**headers, **_method_headers(method, params)}
        async with self._send("POST", msgspec.json.encode(body), headers) as response:
            if method == "initialize":
                self._store_session(response)
            answer = await self._read_answer(response, exchange)
        for _ in range(_MAX_RESUMPTIONS):
            if answer is not None or exchange.last_event_id is None:
                break
            answer = await self._resume(exchange)
        if answer is None:
            raise McpFailed("protocol_error", "The MCP server's response ended without a result.")
        return answer

    async def _resume(self, exchange: _Exchange) -> RpcMessage | None:
        """Request the rest of a stream that ended before its answer."""
        await asyncio.sleep(min(exchange.retry_ms, _MAX_RETRY_MS) / 1000)
        async with self._send("GET", headers={"Last-Event-ID": exchange.last_event_id or ""}) as response:
            try:
                return await self._read_answer(response, exchange)
            except ConnectionStale:
                # The server accepted the request, so it must not be sent again in a new session.
                raise McpFailed("network_error", "The MCP server no longer has the response.") from None

    async def _read_answer(self, response: Response, exchange: _Exchange) -> RpcMessage | None:
        await self._refuse_status(response)
        try:
            async with aclosing(self._messages(response, exchange)) as messages:
                async for message in messages:
                    if message.answers(exchange.request_id):
                        await _linger(messages)
                        return message
                    await self._handle_server_message(message, exchange)
        except EgressFailed:
            if exchange.last_event_id is None:
                raise
        return None

    async def _messages(self, response: Response, exchange: _Exchange) -> AsyncGenerator[RpcMessage, None]:
        match response.headers.get("Content-Type", "").partition(";")[0].strip().lower():
            case "application/json":
                for message in read_messages(await response.read()):
                    yield message
            case "text/event-stream":
                async for event in read_events(response.iter_lines()):
                    if event.id and len(event.id) <= _MAX_ID_LENGTH and not self.is_stateless:
                        exchange.last_event_id = event.id
                    if event.retry_ms is not None:
                        exchange.retry_ms = event.retry_ms
                    if event.data and event.type == b"message":
                        for message in read_messages(event.data):
                            yield message
            case _:
                raise McpFailed("protocol_error", "The MCP server returned neither JSON nor an event stream.")

    async def _handle_server_message(self, message: RpcMessage, exchange: _Exchange) -> None:
        """Handle what a server sends before its answer: changes of its tools, and its own requests."""
        if message.method == _LIST_CHANGED:
            self.listing = None
            self.list_changes += 1
        if message.method is None or message.id is None or self.is_stateless:
            return
        exchange.server_requests += 1
        if exchange.server_requests > _MAX_SERVER_REQUESTS:
            raise McpFailed("protocol_error", "The MCP server sent too many requests before its response.")
        reply: JsonObject = {"jsonrpc": "2.0", "id": message.id}
        if message.method == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "This client does not support the method."}
        with suppress(RetinueError, ConnectionStale):
            await self._post(reply)

    async def _refuse_status(self, response: Response) -> None:
        status = response.status
        if status < 300:
            return
        if status < 400:
            raise McpFailed(
                "protocol_error",
                "The MCP server redirects to another address, which is not followed. Use that address.",
            )
        if status in {401, 403}:
            raise McpFailed("auth_error", f"The MCP server rejected the credentials (status {status}).")
        failure = await _error_from(response)
        # Servers disagree about the status of an unknown session; both statuses mean that nothing was done.
        is_forgotten = status in {400, 404} and self.session_id is not None
        is_outdated = status in {400, 404, 405} and self.is_stateless and isinstance(failure, StatusRefused)
        if is_forgotten or is_outdated:
            raise ConnectionStale(failure)
        raise failure

    def _store_session(self, response: Response) -> None:
        session_id = response.headers.get("Mcp-Session-Id")
        if session_id is None:
            return
        if (
            len(session_id) > _MAX_ID_LENGTH
            or not session_id.isascii()
            or not session_id.isprintable()
            or " " in session_id
        ):
            raise McpFailed("protocol_error", "The MCP server sent an invalid session id.")
        self.session_id = session_id

    async def _post(self, body: JsonObject) -> None:
        async with self._send(
            "POST", msgspec.json.encode(body), timeout_s=_NOTICE_TIMEOUT_SECONDS
        ) as response:
            await self._refuse_status(response)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout_s: float = _MAX_CALL_SECONDS,
    ) -> AsyncIterator[Response]:
        """Send a request and follow redirects within the same origin: `/mcp` often redirects to `/mcp/`.

        The credentials belong to this origin, so no other one receives them.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            async with self._egress.request(
                method,
                self._url,
                headers={**_caller_headers(self.server.headers), **self._own_headers(), **(headers or {})},
                content=content,
                timeout_s=timeout_s,
                stall_timeout_s=timeout_s,
                max_bytes=self._max_bytes,
            ) as response:
                moved_to = _redirect_target(self._url, response)
                if moved_to is None:
                    yield response
                    return
            self._url = moved_to
        raise McpFailed("protocol_error", "The MCP server redirects too often.")

    def _own_headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self.version is not None:
            headers["MCP-Protocol-Version"] = self.version
        if self.session_id is not None:
            headers["Mcp-Session-Id"] = self.session_id
        return headers

    def _send_in_background(self, notice: Coroutine[Any, Any, None]) -> None:
        async def send_quietly() -> None:
            with suppress(RetinueError, ConnectionStale):
                await notice

        task = asyncio.create_task(send_quietly())
        self._notices.add(task)
        task.add_done_callback(self._notices.discard)


def _redirect_target(url: str, response: Response) -> str | None:
    """Return the target of a redirect if it has the same origin."""
    location = response.headers.get("Location", "")
    if response.status not in _REDIRECTS or not location or len(location) > _MAX_URL_LENGTH:
        return None
    try:
        target, current = urlsplit(urljoin(url, location)), urlsplit(url)
        is_same_origin = (target.scheme, target.hostname, target.port) == (
            current.scheme,
            current.hostname,
            current.port,
        )
    except ValueError:
        return None
    return target._replace(fragment="").geturl() if is_same_origin and "@" not in target.netloc else None


def _caller_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's headers without those reserved for the protocol."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _OWN_HEADERS and not name.lower().startswith("mcp-")
    }


def _method_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that let intermediaries inspect a request without its body."""
    method_headers = {"Mcp-Method": method}
    if method == "tools/call":
        method_headers["Mcp-Name"] = header_value(params["name"])
    return method_headers


async def _linger(messages: AsyncIterator[RpcMessage]) -> None:
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_LINGER_SECONDS):
            async for _ in messages:
                pass


async def _error_from(response: Response) -> McpFailed:
    """Return the JSON-RPC error in the body of a failed response, or else its status."""
    refusals: list[RpcRefused | None] = []
    with suppress(McpFailed, ResponseTooLarge):
        refusals = [message.find_refusal() for message in read_messages(await response.read())]
    return next((refusal for refusal in refusals if refusal), StatusRefused(response.status))
