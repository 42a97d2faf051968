"""The process that runs one statement on one SQLite file, with JSON on stdin and stdout.

It imports little of the standard library, so that it starts in 40 ms.
"""

import base64
import json
import math
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

_MEBIBYTE = 1024 * 1024
_LIMITS = {
    resource.RLIMIT_AS: 512 * _MEBIBYTE,
    # The maximum size of a temporary file and of the database itself.
    resource.RLIMIT_FSIZE: 256 * _MEBIBYTE,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
}
_SQLITE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 16 * _MEBIBYTE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 256 * 1024,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 500,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store = FILE",
)
_PROBE_QUERY = "SELECT count(*) FROM sqlite_master"
_QUERY_ONLY = "PRAGMA query_only = ON"
_BEGIN, _COMMIT = "BEGIN IMMEDIATE", "COMMIT"
_STEPS_BETWEEN_DEADLINE_CHECKS = 10_000

_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
# Operators that SQLite reports as function calls.
_OPERATORS = {"->", "->>", "match", "glob", "like", "current_date", "current_time", "current_timestamp"}

_KINDS = {
    sqlite3.SQLITE_INTERRUPT: "timeout",
    sqlite3.SQLITE_BUSY: "timeout",
    sqlite3.SQLITE_LOCKED: "timeout",
    sqlite3.SQLITE_TOOBIG: "too_large",
    sqlite3.SQLITE_NOMEM: "too_large",
    sqlite3.SQLITE_FULL: "too_large",
    sqlite3.SQLITE_IOERR: "too_large",
    sqlite3.SQLITE_AUTH: "not_allowed",
    sqlite3.SQLITE_READONLY: "not_allowed",
    sqlite3.SQLITE_CANTOPEN: "not_configured",
    sqlite3.SQLITE_NOTADB: "not_configured",
    sqlite3.SQLITE_CORRUPT: "not_configured",
}
_MESSAGES = {
    "timeout": "The statement took too long, or the database was locked.",
    "too_large": "The statement uses or returns too much data.",
    "not_allowed": "The statement uses something that is not allowed.",
    "not_configured": "The file is not a usable SQLite database.",
}


class TooLargeError(Exception):
    """The result is larger than the limit."""


def confine(timeout_s: float) -> None:
    # uvloop passes on every inheritable descriptor of the server.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    seconds = math.ceil(timeout_s) + 1
    for kind, maximum in {**_LIMITS, resource.RLIMIT_CPU: seconds}.items():
        resource.setrlimit(kind, (maximum, maximum))


def make_authorizer(request: dict[str, Any]) -> Callable[..., int]:
    functions = {*request["functions"], *_OPERATORS}

    def decide(
        action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
    ) -> int:
        if action in _READS or (action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"):
            # Reading a virtual table requests the second; on a real one it fails without writable_schema.
            is_allowed = True
        elif action == sqlite3.SQLITE_READ:
            is_allowed = not (first or "").lower().startswith(("pragma_", "sqlite_dbpage", "dbstat"))
        elif action == sqlite3.SQLITE_FUNCTION:
            is_allowed = (second or "").lower() in functions
        elif action == sqlite3.SQLITE_PRAGMA:
            # Full-text tables request this one.
            is_allowed = first == "data_version"
        else:
            is_allowed = action in _WRITES and not request["is_read"]
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    return decide


def open_file(request: dict[str, Any], mode: str) -> sqlite3.Connection:
    uri = f"{request['uri']}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=request["timeout_s"])
    connection.text_factory = lambda text: text.decode(errors="replace")
    for limit, maximum in _SQLITE_LIMITS.items():
        connection.setlimit(limit, maximum)
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    return connection


def recover_journal(request: dict[str, Any]) -> None:
    """Roll back a killed writer's journal, which a read-only connection cannot do."""
    try:
        with closing(open_file(request, "ro")) as reader:
            reader.execute(_PROBE_QUERY)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        with closing(open_file(request, "rw")) as writer:
            writer.execute(_PROBE_QUERY)


def connect(request: dict[str, Any], deadline: float) -> sqlite3.Connection:
    if request["is_read"]:
        recover_journal(request)
    connection = open_file(request, "ro" if request["is_read"] else "rw")
    connection.execute(_QUERY_ONLY if request["is_read"] else _BEGIN)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_DEADLINE_CHECKS)
    connection.set_authorizer(make_authorizer(request))
    return connection


def run(request: dict[str, Any]) -> dict[str, Any]:
    with closing(connect(request, time.monotonic() + request["timeout_s"])) as connection:
        cursor = connection.execute(request["sql"], request["arguments"])
        reply = fetch_rows(cursor, request)
        if not request["is_read"]:
            connection.set_authorizer(None)
            connection.execute(_COMMIT)
        return reply


def fetch_rows(cursor: sqlite3.Cursor, request: dict[str, Any]) -> dict[str, Any]:
    columns = [column[0] for column in cursor.description or ()]
    # Each row repeats the column names; the size must be known before a change is committed.
    names = sum(len(json.dumps(column)) + 8 for column in columns)
    rows: list[list[Any]] = []
    size = row_count = 0
    for row in cursor:
        row_count += 1
        if len(rows) <= request["max_rows"]:
            rows.append([to_json_value(value) for value in row])
            size += len(json.dumps(rows[-1])) + names
        elif request["is_read"]:
            break
        if size > request["max_bytes"]:
            raise TooLargeError
    changed = None if request["is_read"] else row_count if columns else cursor.rowcount
    return {"columns": columns, "rows": rows, "changed": changed}


def to_json_value(value: object) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def error_reply(error: Exception) -> dict[str, str]:
    if isinstance(error, (MemoryError, TooLargeError)):
        kind = "too_large"
    else:
        kind = _KINDS.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, "failed")
    message = _MESSAGES.get(kind) or f"The database reported: {error}"
    return {"error": kind, "message": message}


def main() -> None:
    request = json.load(sys.stdin)
    confine(request["timeout_s"])
    try:
        reply = run(request)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError, TooLargeError) as error:
        reply = error_reply(error)
    json.dump(reply, sys.stdout)


if __name__ == "__main__":
    main()
