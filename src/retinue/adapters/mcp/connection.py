"""One server, spoken to in the version agreed on: requests go out, their answers come back."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from typing import Any

import msgspec

from retinue import __version__
from retinue.adapters.mcp.errors import ConnectionStale, McpFailed, RpcRefused, StatusRefused
from retinue.adapters.mcp.event_stream import read_events
from retinue.adapters.mcp.messages import METHOD_NOT_FOUND, Listing, McpServer, Message, read_messages
from retinue.adapters.mcp.mirroring import header_value
from retinue.kit.egress import Egress, EgressFailed, Response, ResponseTooLarge
from retinue.kit.errors import RetinueError

# The revision that needs no handshake: every request says who speaks which version.
STATELESS_VERSION = "2026-07-28"
CLIENT_INFO = {"name": "retinue", "version": __version__}

_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LIST_CHANGED = "notifications/tools/list_changed"
_OWN_HEADERS = frozenset({"accept", "content-type", "last-event-id"})
# The caller's timeout is around every request; this only ends what nobody waits for any more.
_LONGEST_CALL_S = 3600.0
_COURTESY_S = 5.0
# A stream that ends with its answer, as it should, leaves its connection open for the next request.
_LINGER_S = 0.05
_MOST_SERVER_REQUESTS = 32
_MOST_RESUMPTIONS = 10
_DEFAULT_RETRY_MS = 500
_LONGEST_RETRY_MS = 30_000
_LONGEST_ID = 1024


class _Exchange:
    """A request on its way to its answer, which may take several streams."""

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id
        self.last_event_id: str | None = None
        self.retry_ms = _DEFAULT_RETRY_MS
        self.server_requests = 0


class Connection:
    """`version` is None until one is agreed on; `listing` is what the server last said about its tools."""

    def __init__(self, egress: Egress, server: McpServer, max_bytes: int) -> None:
        self.server = server
        self.version: str | None = None
        self.session_id: str | None = None
        self.listing: Listing | None = None
        self._egress = egress
        self._max_bytes = max_bytes
        self._ids = itertools.count(1)
        self._courtesies: set[asyncio.Task[None]] = set()

    @property
    def is_stateless(self) -> bool:
        return self.version == STATELESS_VERSION

    async def request(
        self, method: str, params: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        exchange = _Exchange(next(self._ids))
        try:
            answer = await self._ask(exchange, method, params, headers or {})
        except asyncio.CancelledError:
            # Without a session, closing the stream is the word for "never mind"; with one it must be said.
            if self.version is not None and not self.is_stateless:
                told = {"requestId": exchange.request_id, "reason": "The caller no longer waits."}
                self._in_passing(self.notify("notifications/cancelled", told))
            raise
        return answer.outcome()

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        await self._post({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    async def close(self) -> None:
        """Let what was said in passing arrive, then end the session; neither may hold anyone up."""
        if self._courtesies:
            await asyncio.wait(self._courtesies, timeout=_COURTESY_S)
        if self.session_id is not None:
            with suppress(RetinueError):
                async with self._send("DELETE", timeout_s=_COURTESY_S):
                    pass

    async def _ask(
        self, exchange: _Exchange, method: str, params: dict[str, Any], headers: Mapping[str, str]
    ) -> Message:
        body = {"jsonrpc": "2.0", "id": exchange.request_id, "method": method, "params": params}
        if self.is_stateless:
            body["params"] = {**params, "_meta": _META}
            headers = {**headers, **_described(method, params)}
        async with self._send("POST", msgspec.json.encode(body), headers) as response:
            if method == "initialize":
                self._take_session(response)
            answer = await self._read_answer(response, exchange)
        for _ in range(_MOST_RESUMPTIONS):
            if answer is not None or exchange.last_event_id is None:
                break
            answer = await self._resume(exchange)
        if answer is None:
            raise McpFailed("protocol_error", "The MCP server's answer ended without a result.")
        return answer

    async def _resume(self, exchange: _Exchange) -> Message | None:
        """Ask for the rest of a stream that the server, or the network, ended before the answer."""
        await asyncio.sleep(min(exchange.retry_ms, _LONGEST_RETRY_MS) / 1000)
        async with self._send("GET", headers={"Last-Event-ID": exchange.last_event_id or ""}) as response:
            try:
                return await self._read_answer(response, exchange)
            except ConnectionStale:
                # The request itself was taken, so it must not be sent again under a new session.
                raise McpFailed("network_error", "The MCP server no longer has the answer.") from None

    async def _read_answer(self, response: Response, exchange: _Exchange) -> Message | None:
        await self._refuse_status(response)
        try:
            async with aclosing(self._messages(response, exchange)) as messages:
                async for message in messages:
                    if message.answers(exchange.request_id):
                        await _linger(messages)
                        return message
                    await self._hear(message, exchange)
        except EgressFailed:
            if exchange.last_event_id is None:
                raise
        return None

    async def _messages(self, response: Response, exchange: _Exchange) -> AsyncGenerator[Message, None]:
        match response.headers.get("Content-Type", "").partition(";")[0].strip().lower():
            case "application/json":
                for message in read_messages(await response.read()):
                    yield message
            case "text/event-stream":
                async for event in read_events(response.iter_lines()):
                    if event.id and len(event.id) <= _LONGEST_ID and not self.is_stateless:
                        exchange.last_event_id = event.id
                    if event.retry_ms is not None:
                        exchange.retry_ms = event.retry_ms
                    if event.data and event.type == b"message":
                        for message in read_messages(event.data):
                            yield message
            case _:
                raise McpFailed("protocol_error", "The MCP server answered neither JSON nor an event stream.")

    async def _hear(self, message: Message, exchange: _Exchange) -> None:
        """What a server says before it answers: news about its tools, and requests of its own."""
        if message.method == _LIST_CHANGED:
            self.listing = None
        if message.method is None or message.id is None or self.is_stateless:
            return
        exchange.server_requests += 1
        if exchange.server_requests > _MOST_SERVER_REQUESTS:
            raise McpFailed("protocol_error", "The MCP server asks too much before it answers.")
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
        if message.method == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "This client does not offer that."}
        with suppress(RetinueError, ConnectionStale):
            await self._post(reply)

    async def _refuse_status(self, response: Response) -> None:
        status = response.status
        if status < 300:
            return
        if status < 400:
            raise McpFailed(
                "protocol_error", "The MCP server answers with a redirect, which is not followed."
            )
        if status in {401, 403}:
            raise McpFailed("auth_error", f"The MCP server refused the credentials (status {status}).")
        failure = await _failure_of(response)
        # Servers disagree about the status of an unknown session; neither means that anything was done.
        is_forgotten = status in {400, 404} and self.session_id is not None
        is_outdated = status in {400, 404, 405} and self.is_stateless and isinstance(failure, StatusRefused)
        if is_forgotten or is_outdated:
            raise ConnectionStale(failure)
        raise failure

    def _take_session(self, response: Response) -> None:
        given = response.headers.get("Mcp-Session-Id")
        if given is None:
            return
        if len(given) > _LONGEST_ID or not given.isascii() or not given.isprintable() or " " in given:
            raise McpFailed("protocol_error", "The MCP server gave a session id that is not allowed.")
        self.session_id = given

    async def _post(self, body: dict[str, Any]) -> None:
        async with self._send("POST", msgspec.json.encode(body), timeout_s=_COURTESY_S) as response:
            await self._refuse_status(response)

    def _send(
        self,
        method: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout_s: float = _LONGEST_CALL_S,
    ) -> AbstractAsyncContextManager[Response]:
        return self._egress.request(
            method,
            self.server.url,
            headers={**_foreign(self.server.headers), **self._own_headers(), **(headers or {})},
            content=content,
            timeout_s=timeout_s,
            stall_timeout_s=timeout_s,
            max_bytes=self._max_bytes,
        )

    def _own_headers(self) -> dict[str, str]:
        own = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self.version is not None:
            own["MCP-Protocol-Version"] = self.version
        if self.session_id is not None:
            own["Mcp-Session-Id"] = self.session_id
        return own

    def _in_passing(self, saying: Coroutine[Any, Any, None]) -> None:
        async def say() -> None:
            with suppress(RetinueError, ConnectionStale):
                await saying

        task = asyncio.create_task(say())
        self._courtesies.add(task)
        task.add_done_callback(self._courtesies.discard)


def _foreign(headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers without those that are the protocol's own."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _OWN_HEADERS and not name.lower().startswith("mcp-")
    }


def _described(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """What intermediaries may read of a request without opening its body."""
    described = {"Mcp-Method": method}
    if method == "tools/call":
        described["Mcp-Name"] = header_value(params["name"])
    return described


async def _linger(messages: AsyncIterator[Message]) -> None:
    with suppress(TimeoutError, RetinueError):
        async with asyncio.timeout(_LINGER_S):
            async for _ in messages:
                pass


async def _failure_of(response: Response) -> McpFailed:
    """The JSON-RPC error in the body of an answer whose status already says no, or else that status."""
    refusals: list[RpcRefused | None] = []
    with suppress(McpFailed, ResponseTooLarge):
        refusals = [message.find_refusal() for message in read_messages(await response.read())]
    return next((refusal for refusal in refusals if refusal), StatusRefused(response.status))
