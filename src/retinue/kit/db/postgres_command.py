"""A connection to PostgreSQL for a few statements of a command, or of a server that starts."""

import contextlib
from collections.abc import AsyncIterator

import asyncpg

from retinue.kit.db.postgres_connect import connect
from retinue.kit.db.postgres_faults import CONNECT_ERRORS, cannot_connect


@contextlib.asynccontextmanager
async def command_connection(url: str, setting: str) -> AsyncIterator[asyncpg.Connection]:
    """Open and close a connection that keeps no state; `setting` is named if the server does not answer."""
    try:
        connection = await connect(url, keeps_statements=False, is_command=True)
    except CONNECT_ERRORS as error:
        raise cannot_connect(url, error, setting) from error
    try:
        yield connection
    finally:
        await connection.close(timeout=5)
