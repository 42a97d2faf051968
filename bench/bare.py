"""The limit: a bare ASGI application with the same server, drivers and encoder, and nothing else.

It runs on the interpreter, the event loop and the garbage collection of ours, and acknowledges nothing before
it is on the disk: each write is a commit, on SQLite with the settings of ours (WAL, `synchronous=FULL`).

python -m bench.bare PORT [postgresql://…|path of an SQLite file] URL-OF-WHAT-IS-CALLED
"""

import asyncio
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import msgspec
import uvicorn

from bench.bare_chat import BareChat
from bench.notes import Chunk
from bench.requests import NOTE_CHUNKS
from retinue.kit.db.sqlite import connect
from retinue.kit.http.server import freeze_startup_objects
from retinue.kit.ids import new_id

_encode = msgspec.json.Encoder().encode
_READ = "SELECT id, title, body, created_at, updated_at FROM bench_notes WHERE id = {0} AND tenant_id = {1}"
_LIST = (
    "SELECT id, title, body, created_at, updated_at FROM bench_notes WHERE tenant_id = {0}"
    " ORDER BY created_at DESC, id DESC LIMIT {1} OFFSET {2}"
)
_COUNT = "SELECT count(*) FROM bench_notes WHERE tenant_id = {0}"
_INSERT = (
    "INSERT INTO bench_notes (id, tenant_id, title, body, created_at, updated_at)"
    " VALUES ({0}, {1}, {2}, {3}, {4}, {4})"
)


class NoteIn(msgspec.Struct):
    title: str
    body: str


class NoteRow(msgspec.Struct):
    id: str
    title: str
    body: str
    created_at: str
    updated_at: str


_decode = msgspec.json.Decoder(NoteIn).decode


class Postgres:
    def __init__(self, url: str) -> None:
        self._url = url
        places = [f"${number}" for number in range(1, 6)]
        self.read, self.list, self.count, self.insert = (
            text.format(*places) for text in (_READ, _LIST, _COUNT, _INSERT)
        )

    async def open(self) -> None:
        async def no_reset(connection: Any) -> None: ...

        self._pool = await asyncpg.create_pool(self._url, min_size=5, max_size=10, reset=no_reset)

    async def fetch(self, sql: str, *arguments: Any) -> Any:
        async with self._pool.acquire() as connection:
            return await connection.fetch(sql, *arguments)

    async def write(self, *arguments: Any) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(self.insert, *arguments)


class Sqlite:
    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self.read, self.list, self.count = (text.format("?", "?", "?") for text in (_READ, _LIST, _COUNT))
        self.insert = _INSERT.format("?1", "?2", "?3", "?4", "?5")

    async def open(self) -> None:
        self._reader: sqlite3.Connection = connect(self._path, busy_ms=5000)
        self._writer: sqlite3.Connection = connect(self._path, busy_ms=5000)
        self._lock = asyncio.Lock()

    async def fetch(self, sql: str, *arguments: Any) -> Any:
        return self._reader.execute(sql, arguments).fetchall()

    async def write(self, *arguments: Any) -> None:
        async with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.execute(self.insert, arguments)
            await asyncio.get_running_loop().run_in_executor(None, self._writer.execute, "COMMIT")


class Bare:
    def __init__(self, store: Any, upstream: str) -> None:
        self._store = store
        self._upstream = upstream

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await self._store.open()
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            self._chat = BareChat(self._store, self._session, self._upstream)
            freeze_startup_objects()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._session.close()
            await send({"type": "lifespan.shutdown.complete"})
            return
        path = scope["path"]
        if path == "/health":
            await self._store.fetch("SELECT 1")
            await reply(send, 200, {"status": "ok"})
        elif path == "/bench/notes/stream":
            await stream(send)
        elif path == "/bench/execute":
            await self._execute(receive, send)
        elif path == "/bench/chat":
            await reply(send, 200, await self._chat.answer(receive))
        elif path == "/bench/chat/stream":
            await self._chat.stream(receive, send)
        elif scope["method"] == "POST":
            await self._create(receive, send)
        elif path == "/bench/notes":
            rows = await self._store.fetch(self._store.list, "ten_bench", 20, 0)
            total = (await self._store.fetch(self._store.count, "ten_bench"))[0][0]
            await reply(send, 200, {"data": [NoteRow(*row) for row in rows], "total": total})
        else:
            rows = await self._store.fetch(self._store.read, path.rpartition("/")[2], "ten_bench")
            await reply(send, 200, NoteRow(*rows[0]))

    async def _create(self, receive: Any, send: Any) -> None:
        body = _decode((await receive())["body"])
        now = datetime.now(UTC).isoformat()
        note = NoteRow(new_id("note"), body.title, body.body, now, now)
        await self._store.write(note.id, "ten_bench", note.title, note.body, now)
        await reply(send, 201, note)

    async def _execute(self, receive: Any, send: Any) -> None:
        """What a tool does at the least: call the API, keep what it said, and pass it on."""
        input = msgspec.json.decode((await receive())["body"])["input"]
        async with self._session.get(f"{self._upstream}/orders/{input['order_id']}") as answer:
            output = msgspec.json.decode(await answer.read())
        now = datetime.now(UTC).isoformat()
        id = new_id("exe")
        await self._store.write(id, "ten_bench", _encode(input).decode(), _encode(output).decode(), now)
        await reply(send, 200, {"data": {"execution_id": id, "status": "completed", "output": output}})


async def reply(send: Any, status: int, value: Any) -> None:
    body = _encode(value)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def stream(send: Any) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for number in range(NOTE_CHUNKS):
        data = _encode(Chunk(delta="a few words "))
        chunk = b"id: %d\nevent: content_delta\ndata: %b\n\n" % (number, data)
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def main() -> None:
    port, where, upstream = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    store = Postgres(where) if where.startswith("postgresql:") else Sqlite(where)
    uvicorn.run(
        Bare(store, upstream),
        port=port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="error",
        ws="none",
    )


if __name__ == "__main__":
    main()
