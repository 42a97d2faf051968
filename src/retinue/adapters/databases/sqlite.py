"""SQLite in a process of its own, where a query can be stopped and fills neither memory nor disk."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.databases.connection import CONNECT_S, ConnectionSpec
from retinue.adapters.databases.errors import (
    DatabaseFailed,
    DatabaseNotConfigured,
    DatabaseTimeout,
    QueryFailed,
    QueryNotAllowed,
    ResultTooLarge,
    said,
)
from retinue.adapters.databases.functions import FUNCTIONS
from retinue.adapters.databases.query import Query
from retinue.adapters.databases.values import MAX_RESULT_BYTES, Rows, rows_of
from retinue.kit import children
from retinue.kit.egress import Egress

_CHILD = Path(__file__).with_name("sqlite_child.py")
_PING = Query("sqlite", "select", ("SELECT count(*) FROM sqlite_master",))
_MAX_ANSWER = 2 * MAX_RESULT_BYTES
_children = asyncio.Semaphore(8)

_ERRORS: dict[str, type[DatabaseFailed]] = {
    "not_configured": DatabaseNotConfigured,
    "timeout": DatabaseTimeout,
    "too_large": ResultTooLarge,
}


class _Request(msgspec.Struct, frozen=True):
    uri: str
    sql: str
    arguments: list[Any]
    functions: list[str]
    is_read: bool
    max_rows: int
    max_bytes: int
    timeout_s: float


class _Answer(msgspec.Struct, frozen=True):
    """`changed` is missing when the statement only read; `error` says what kind of failure there was."""

    columns: list[str] = []
    rows: list[list[Any]] = []
    changed: int | None = None
    error: str = ""
    message: str = ""


async def ping(egress: Egress, spec: ConnectionSpec) -> None:
    await run(egress, spec, _PING, timeout_s=CONNECT_S, max_rows=1)


async def run(egress: Egress, spec: ConnectionSpec, query: Query, *, timeout_s: float, max_rows: int) -> Rows:  # noqa: ARG001 - a file is reached without the network
    path = await asyncio.to_thread(_confined, spec)
    request = _Request(
        uri=path.as_uri(),
        sql=query.written(lambda _: "?"),
        arguments=[_bindable(query.arguments[index]) for index in query.order],
        functions=sorted(FUNCTIONS["sqlite"]),
        is_read=query.is_read,
        max_rows=max_rows,
        max_bytes=MAX_RESULT_BYTES,
        timeout_s=timeout_s,
    )
    async with _children:
        answer = await _ask_child(request)
    if answer.error == "not_allowed":
        raise QueryNotAllowed(answer.message)
    if answer.error:
        raise _ERRORS.get(answer.error, QueryFailed)(said(answer.message) or None)
    return rows_of(answer.columns, answer.rows, max_rows, answer.changed)


def _confined(spec: ConnectionSpec) -> Path:
    """The file, which must be there already, after every link on the way to it."""
    if spec.folder is None or not spec.database or "\0" in spec.database:
        raise DatabaseNotConfigured("The file of the database is missing.")
    folder = spec.folder.resolve()
    try:
        path = (folder / spec.database).resolve(strict=True)
    except (OSError, RuntimeError):
        raise DatabaseNotConfigured("There is no such database file.") from None
    if not path.is_relative_to(folder) or not path.is_file():
        raise DatabaseNotConfigured("There is no such database file.")
    return path


def _bindable(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


async def _ask_child(request: _Request) -> _Answer:
    try:
        async with children.child("-S", str(_CHILD)) as reader:
            heard = await children.ask(reader, msgspec.json.encode(request), _MAX_ANSWER)
    except children.TooMuch:
        raise ResultTooLarge from None
    try:
        return msgspec.json.decode(heard.content, type=_Answer)
    except msgspec.DecodeError:
        raise DatabaseFailed(
            f"The statement needs too much memory or time (the process ended with {heard.code})."
        ) from None
