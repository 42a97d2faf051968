"""The client that callers hold: tools of any MCP server listed and called, with one kind of failure."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Self, TypeVar

from retinue.adapters.mcp.connection import Connection
from retinue.adapters.mcp.errors import ConnectionStale, FailureKind, McpFailed
from retinue.adapters.mcp.messages import McpResult, McpServer, McpTool
from retinue.adapters.mcp.pool import ConnectionPool
from retinue.adapters.mcp.tools import call, fetch_listing
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MOST_CONNECTIONS = 128

_EGRESS_KINDS: dict[type[RetinueError], FailureKind] = {
    EgressRefused: "ssrf_blocked",
    EgressFailed: "network_error",
    EgressTimeout: "timeout",
    ResponseTooLarge: "output_too_large",
}
_Result = TypeVar("_Result")


class McpClient:
    """Kept for the life of the process; everything it raises is `McpFailed`."""

    def __init__(
        self,
        egress: Egress,
        clock: Clock,
        *,
        max_bytes: int = MAX_ANSWER_BYTES,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        self._clock = clock
        self._pool = ConnectionPool(egress, clock, max_bytes=max_bytes, most_connections=most_connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the sessions; to be called before the egress is closed."""
        await self._pool.close()

    async def list_tools(self, server: McpServer, *, timeout_s: float) -> list[McpTool]:
        async def ask(connection: Connection) -> list[McpTool]:
            return list((await fetch_listing(connection, self._clock)).tools)

        async with _bounded(timeout_s):
            return await self._over_a_connection(server, ask)

    async def call_tool(
        self, server: McpServer, name: str, arguments: Mapping[str, Any], *, timeout_s: float
    ) -> McpResult:
        async def ask(connection: Connection) -> McpResult:
            return await call(connection, self._clock, name, arguments)

        async with _bounded(timeout_s):
            return await self._over_a_connection(server, ask)

    async def _over_a_connection(
        self, server: McpServer, ask: Callable[[Connection], Awaitable[_Result]]
    ) -> _Result:
        """A server that forgot a session did not do what was asked under it, so it is asked once more."""
        with suppress(ConnectionStale):
            async with self._pool.lease(server) as connection:
                return await ask(connection)
        try:
            async with self._pool.lease(server) as connection:
                return await ask(connection)
        except ConnectionStale as stale:
            raise stale.failure from None


@asynccontextmanager
async def _bounded(timeout_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise McpFailed("timeout", "The MCP server did not answer in time.") from None
    except tuple(_EGRESS_KINDS) as error:
        raise McpFailed(_EGRESS_KINDS[type(error)], error.message) from None
