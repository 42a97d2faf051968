"""Counters of what a request costs without a clock: pages of SQLite, statements and tasks."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import unpack
from typing import Any

import msgspec

import retinue
from retinue.app import Service

_WAL_HEADER, _FRAME_HEADER = 32, 24
_OURS = str(Path(retinue.__file__).parent)


class Cost(msgspec.Struct):
    """The counts of a request; `transactions` are commits that wrote something."""

    transactions: int = 0
    pages: list[int] = msgspec.field(default_factory=list)
    statements: list[str] = msgspec.field(default_factory=list)
    tasks: list[str] = msgspec.field(default_factory=list)


@contextmanager
def counted(service: Service) -> Iterator[Cost]:
    """Count from here on; the service must be on SQLite and have no worker."""
    database: Any = service.instance.database
    path: Path = database._path
    with sqlite3.connect(path, isolation_level=None) as own:
        own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    own.close()
    cost = Cost()
    connections = (database._writer, database._reader)
    for connection in connections:
        connection.set_trace_callback(lambda sql: _note(cost.statements, sql))
    loop = asyncio.get_running_loop()
    factory = loop.get_task_factory()
    loop.set_task_factory(lambda loop, work, **given: _task(cost.tasks, loop, work, **given))
    try:
        yield cost
    finally:
        loop.set_task_factory(factory)
        for connection in connections:
            connection.set_trace_callback(None)
    frames = list(_frames(path.with_name(f"{path.name}-wal")))
    cost.pages = [page for page, _ in frames]
    cost.transactions = sum(1 for _, is_commit in frames if is_commit)


def _note(statements: list[str], sql: str) -> None:
    # What a foreign key or a trigger does is told as a comment.
    if not sql.startswith("--"):
        statements.append(sql)


def _task(
    tasks: list[str], loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **given: Any
) -> Any:
    code = getattr(work, "cr_code", None)
    if code is not None and code.co_filename.startswith(_OURS):
        tasks.append(code.co_qualname if hasattr(code, "co_qualname") else code.co_name)
    return asyncio.Task(work, loop=loop, **given)


def _frames(path: Path) -> Iterator[tuple[int, bool]]:
    """Yield the page of each frame of a log that was empty, and whether a commit ends with it."""
    data = path.read_bytes()
    if not data:
        return
    size = unpack(">I", data[8:12])[0]
    for at in range(_WAL_HEADER, len(data), _FRAME_HEADER + size):
        page, pages_after_commit = unpack(">II", data[at : at + 8])
        # A frame of an earlier round of the log has other salts.
        if data[at + 8 : at + 16] != data[16:24]:
            return
        yield page, pages_after_commit > 0


def by_tree(service: Service, pages: list[int]) -> Counter[str]:
    """Count the pages by table or index."""
    database: Any = service.instance.database
    own = sqlite3.connect(database._path)
    owners = dict(own.execute("SELECT pageno, name FROM dbstat"))
    own.close()
    return Counter(owners[page] for page in pages)
