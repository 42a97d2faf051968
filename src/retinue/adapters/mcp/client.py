"""The public client: lists and calls tools of any MCP server, and raises one kind of failure."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Self, TypeVar

from retinue.adapters.mcp.connection import McpConnection
from retinue.adapters.mcp.errors import ConnectionStale, FailureKind, McpFailed
from retinue.adapters.mcp.messages import McpListing, McpResult, McpServer, McpTool
from retinue.adapters.mcp.pool import ConnectionPool
from retinue.adapters.mcp.tools import call, fetch_listing
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.errors import RetinueError
from retinue.kit.time_limit import time_limit

MAX_RESPONSE_BYTES = 4 * 1024 * 1024
MAX_POOLED_CONNECTIONS = 128

_EGRESS_KINDS: dict[type[RetinueError], FailureKind] = {
    EgressRefused: "ssrf_blocked",
    EgressFailed: "network_error",
    EgressTimeout: "timeout",
    ResponseTooLarge: "output_too_large",
}
_Result = TypeVar("_Result")


class McpClient:
    """Lives as long as the process; raises nothing but `McpFailed`."""

    def __init__(
        self,
        egress: Egress,
        clock: Clock,
        *,
        max_bytes: int = MAX_RESPONSE_BYTES,
        max_pooled_connections: int = MAX_POOLED_CONNECTIONS,
    ) -> None:
        self._clock = clock
        self._pool = ConnectionPool(
            egress, clock, max_bytes=max_bytes, max_pooled_connections=max_pooled_connections
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the sessions; call this before closing the egress."""
        await self._pool.close()

    async def list_tools(self, server: McpServer, *, timeout_s: float) -> list[McpTool]:
        async def use(connection: McpConnection) -> list[McpTool]:
            return list((await fetch_listing(connection, self._clock)).tools)

        async with _time_limit(timeout_s):
            return await self._with_connection(server, use)

    async def list_server(self, server: McpServer, *, timeout_s: float) -> McpListing:
        """Return what the server offers now, never from the cache."""

        async def use(connection: McpConnection) -> McpListing:
            listing = await fetch_listing(connection, self._clock, is_fresh=True)
            return McpListing(
                tools=listing.tools,
                left_out=listing.left_out,
                protocol_version=connection.version or "",
                server_name=connection.server_name,
            )

        async with _time_limit(timeout_s):
            return await self._with_connection(server, use)

    async def call_tool(
        self, server: McpServer, name: str, arguments: Mapping[str, Any], *, timeout_s: float
    ) -> McpResult:
        async def use(connection: McpConnection) -> McpResult:
            return await call(connection, self._clock, name, arguments)

        async with _time_limit(timeout_s):
            return await self._with_connection(server, use)

    async def _with_connection(
        self, server: McpServer, use: Callable[[McpConnection], Awaitable[_Result]]
    ) -> _Result:
        """Use a connection; retry once if it is stale, because a server that lost a session did nothing."""
        with suppress(ConnectionStale):
            async with self._pool.lease(server) as connection:
                return await use(connection)
        try:
            async with self._pool.lease(server) as connection:
                return await use(connection)
        except ConnectionStale as stale:
            raise stale.failure from None


@asynccontextmanager
async def _time_limit(timeout_s: float) -> AsyncIterator[None]:
    try:
        async with time_limit(timeout_s, McpFailed("timeout", "The MCP server did not respond in time.")):
            yield
    except tuple(_EGRESS_KINDS) as error:
        raise McpFailed(_EGRESS_KINDS[type(error)], error.message) from None
