"""SQLite in a child process, where a query can be stopped and cannot exhaust memory or disk."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.databases.connection import CONNECT_TIMEOUT_SECONDS, ConnectionSpec
from retinue.adapters.databases.drivers.rows import MAX_RESULT_BYTES, Rows, build_rows
from retinue.adapters.databases.errors import (
    DatabaseFailed,
    DatabaseNotConfigured,
    DatabaseTimeout,
    QueryFailed,
    QueryNotAllowed,
    ResultTooLarge,
    redact_server_message,
)
from retinue.adapters.databases.sql.functions import ALLOWED_FUNCTIONS
from retinue.adapters.databases.sql.query import Query
from retinue.kit import subprocesses
from retinue.kit.egress import Egress
from retinue.kit.fair_queue import FairQueue, QueueFull

_CHILD = Path(__file__).with_name("sqlite_child.py")
_PING = Query("sqlite", "select", ("SELECT count(*) FROM sqlite_master",))
_MAX_REPLY_BYTES = 2 * MAX_RESULT_BYTES
_child_places = FairQueue(8, max_waiting=256)

_ERRORS: dict[str, type[DatabaseFailed]] = {
    "not_configured": DatabaseNotConfigured,
    "timeout": DatabaseTimeout,
    "too_large": ResultTooLarge,
}


class _ChildRequest(msgspec.Struct, frozen=True):
    uri: str
    sql: str
    arguments: list[Any]
    functions: list[str]
    is_read: bool
    max_rows: int
    max_bytes: int
    timeout_s: float


class _ChildReply(msgspec.Struct, frozen=True):
    """The child's reply; `changed` is missing for reads, `error` is the kind of failure."""

    columns: list[str] = []
    rows: list[list[Any]] = []
    changed: int | None = None
    error: str = ""
    message: str = ""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    await run(egress, spec, _PING, timeout_s=CONNECT_TIMEOUT_SECONDS, max_rows=1)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:  # noqa: ARG001 - a file is reached without the network
    path = await asyncio.to_thread(_resolve_file, spec)
    request = _ChildRequest(
        uri=path.as_uri(),
        sql=query.written(lambda _: "?"),
        arguments=[_to_bindable(query.arguments[index]) for index in query.order],
        functions=sorted(ALLOWED_FUNCTIONS["sqlite"]),
        is_read=query.is_read,
        max_rows=max_rows,
        max_bytes=MAX_RESULT_BYTES,
        timeout_s=timeout_s,
    )
    try:
        leave = await _child_places.enter(spec.requester)
    except QueueFull:
        raise DatabaseFailed("Too many statements wait for a database file. Try again later.") from None
    try:
        reply = await _run_in_child(request)
    finally:
        leave()
    if reply.error == "not_allowed":
        raise QueryNotAllowed(reply.message)
    if reply.error:
        raise _ERRORS.get(reply.error, QueryFailed)(redact_server_message(reply.message) or None)
    return build_rows(reply.columns, reply.rows, max_rows, reply.changed)


def _resolve_file(spec: ConnectionSpec) -> Path:
    """Return the existing database file with all links resolved."""
    if spec.folder is None or not spec.database or "\0" in spec.database:
        raise DatabaseNotConfigured("The database file is not configured.")
    folder = spec.folder.resolve()
    try:
        path = (folder / spec.database).resolve(strict=True)
    except (OSError, RuntimeError):
        raise DatabaseNotConfigured("The database file does not exist.") from None
    if not path.is_relative_to(folder) or not path.is_file():
        raise DatabaseNotConfigured("The database file does not exist.")
    return path


def _to_bindable(value: object) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


async def _run_in_child(request: _ChildRequest) -> _ChildReply:
    try:
        async with subprocesses.python_subprocess("-S", str(_CHILD)) as reader:
            child_output = await subprocesses.communicate(
                reader, msgspec.json.encode(request), _MAX_REPLY_BYTES
            )
    except subprocesses.OutputTooLarge:
        raise ResultTooLarge from None
    try:
        return msgspec.json.decode(child_output.content, type=_ChildReply)
    except msgspec.DecodeError:
        raise DatabaseFailed(
            f"The statement used too much memory or time (exit code {child_output.code})."
        ) from None
