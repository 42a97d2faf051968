"""A domain of the tests' own: a route for each thing the pipeline promises, and a client that may dawdle."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Annotated, Any

from retinue.auth.models import Session
from retinue.files.errors import FileNotFound
from retinue.files.job_kinds import REMOVE_BYTES, BytesToRemove
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.errors import ReferenceViolation
from retinue.kit.errors import Conflict, Unavailable
from retinue.kit.http.idempotent_steps import idempotent_step
from retinue.kit.http.replies import Download, EventStream, Reply
from retinue.kit.http.routing import PUBLIC, SIGNED_IN, Routes, Upload, path_loader
from retinue.kit.http.sse import ServerSentEvent
from retinue.kit.http.uploads import FormData
from retinue.kit.jobs.declare import GiveUp
from retinue.kit.schema.base import MessageReply, Name, Schema
from retinue.users.events import UserCreated
from tests.client import HOST, Response

PATIENCE_S = 10
PREFIX = "/planted"
ANYONE = "/api/v1/public/planted"
OK = MessageReply(message="ok")


class Note(Schema):
    name: Name


class Stored(Schema):
    id: str
    filename: str


NoteById = Annotated[File, path_loader(File, "note_id", FileNotFound)]


async def store(ctx: Context, name: str, size: int = 0) -> File:
    note = File(filename=name, mime_type="text/plain", size_bytes=size, sha256="", purpose="planted")
    return await ctx.db.insert(note)


class Gate:
    """A handler waits here until the test lets it continue."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()

    async def passed(self) -> None:
        self.entered.set()
        await asyncio.wait_for(self.opened.wait(), PATIENCE_S)

    async def somebody_waits(self) -> None:
        await asyncio.wait_for(self.entered.wait(), PATIENCE_S)


class Planted:
    """The routes, and what their handlers and the test tell each other."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.runs = 0
        self.done_after_commit: list[str] = []
        self.stream_closed = asyncio.Event()
        self.manifest = Manifest(
            name="planted",
            routes=(_costs(), _anyone(), _answers(), self._notes(), self._failures(), self._streams()),
        )

    def _notes(self) -> Routes:
        routes = Routes(PREFIX, tag="test")

        @routes.post("/notes", requires="agents:write", status=201)
        async def plant_note(ctx: Context, body: Note) -> Stored:
            self.runs += 1
            return Stored.of(await store(ctx, body.name))

        @routes.post("/notes/{note_id}", requires="agents:write")
        async def change_note(ctx: Context, note: NoteById, body: Note) -> Stored:
            return Stored.of(await ctx.db.update(note, filename=body.name))

        @routes.patch("/notes/{note_id}", requires="agents:write", status=204)
        async def patch_note(ctx: Context, note: NoteById, body: Note) -> None:
            self.runs += 1
            await ctx.db.update(note, filename=body.name)

        @routes.get("/notes", requires="agents:read")
        async def count_notes(ctx: Context) -> dict[str, int]:
            return {"count": await ctx.db.count(File, purpose="planted")}

        @routes.get("/notes/seen", requires="agents:read")
        async def note_that_somebody_looked(ctx: Context) -> Stored:
            return Stored.of(await store(ctx, "seen"))

        @routes.post("/slow", requires="agents:write", status=201)
        async def plant_slowly(ctx: Context, body: Note) -> Stored:
            self.runs += 1
            await self.gate.passed()
            return Stored.of(await store(ctx, body.name))

        @routes.post("/steps", requires="agents:write", status=201, calls_out=True)
        async def plant_in_steps(ctx: Context, body: Note) -> list[str]:
            async def plant(unit: Context) -> str:
                self.runs += 1
                await self.gate.passed()
                return (await store(unit, body.name)).id

            return [await idempotent_step(ctx, name, str, plant) for name in ("first", "second")]

        @routes.post("/uploads", requires="agents:write", status=201, upload=Upload(100_000, 2))
        async def plant_upload(ctx: Context, form: FormData) -> Stored:
            self.runs += 1
            upload = form.file("file")
            assert upload.path.stat().st_size == upload.size
            return Stored.of(await store(ctx, upload.filename, upload.size))

        return routes

    def _failures(self) -> Routes:
        routes = Routes(f"{PREFIX}/failing", tag="test")

        @routes.post("/encoding", requires="agents:write")
        async def fail_to_encode(ctx: Context) -> dict[str, object]:
            await store(ctx, "not encodable")
            return {"what": object()}

        @routes.post("/commit", requires="agents:write")
        async def fail_to_commit(ctx: Context) -> MessageReply:
            await store(ctx, "not committed")
            ctx.after_commit(self._after_commit)
            if ctx.db.dialect == "sqlite":
                connection = await ctx.unit_of_work.begin()
                await connection.execute("PRAGMA defer_foreign_keys=ON", [])
            with suppress(ReferenceViolation):
                await ctx.db.insert(Session(user_id="usr_nobody", expires_at="", last_used_at=""))
            return OK

        @routes.post("/announced", requires="agents:write")
        async def announce(ctx: Context) -> MessageReply:
            await store(ctx, "announced")
            ctx.emit(UserCreated(user_id="usr_x", email="x@example.com", role="viewer"))
            ctx.defer(REMOVE_BYTES, BytesToRemove(key="x/x"))
            ctx.after_commit(self._after_commit)
            return OK

        @routes.post("/after", requires="agents:write")
        async def fail_after_commit(ctx: Context) -> MessageReply:
            await store(ctx, "committed")
            ctx.after_commit(_fail)
            ctx.after_commit(self._after_commit)
            return OK

        @routes.post("/unit", requires="agents:write")
        async def open_a_unit_inside(ctx: Context) -> MessageReply:
            await store(ctx, "outer")
            async with ctx.unit() as unit:
                await store(unit, "inner")
            return OK

        @routes.post("/{kind}", requires="agents:write")
        async def fail_as_told(ctx: Context, kind: str) -> MessageReply:
            self.runs += 1
            await store(ctx, "never kept")
            if kind == "conflict":
                raise Conflict(details={"run": self.runs})
            if kind == "unavailable":
                raise Unavailable
            raise RuntimeError("planted")

        return routes

    async def _after_commit(self) -> None:
        self.done_after_commit.append("done")

    def _streams(self) -> Routes:
        routes = Routes(f"{PREFIX}/streams", tag="test")

        @routes.post("/{kind}", requires="agents:chat", cost="chat")
        async def open_stream(ctx: Context, kind: str) -> EventStream:
            self.runs += 1
            await store(ctx, f"stream {kind}")
            return EventStream(lambda: self._produce(ctx, kind))

        @routes.get("/{kind}", requires="agents:chat")
        async def follow_stream(ctx: Context, kind: str) -> EventStream:
            return EventStream(lambda: self._produce(ctx, kind))

        return routes

    async def _produce(self, ctx: Context, kind: str) -> AsyncIterator[ServerSentEvent]:
        if kind == "refused":
            raise Conflict("Not now.")
        if kind == "broken":
            raise RuntimeError("planted")
        if kind == "internal":
            raise GiveUp("Not for clients.")
        async with ctx.unit() as unit:
            notes = await unit.db.count(File, purpose="planted")
            await store(unit, "from the stream")
        yield ServerSentEvent("started", {"notes": notes}, 1)
        if kind == "late_refusal":
            raise Conflict("No longer.")
        if kind == "late_failure":
            raise RuntimeError("planted")
        if kind == "late_internal":
            raise GiveUp("Not for clients.")
        try:
            if kind == "endless":
                await self.gate.passed()
            yield ServerSentEvent("ended", {}, 2)
        finally:
            async with ctx.unit() as unit:
                await store(unit, "put in order")
            self.stream_closed.set()


async def _fail() -> None:
    raise RuntimeError("planted")


def _costs() -> Routes:
    """A route of each class of cost, which does nothing else."""
    routes = Routes(PREFIX, tag="test")

    @routes.get("/read", requires=SIGNED_IN)
    async def cost_a_read(ctx: Context) -> MessageReply:
        return OK

    @routes.post("/write", requires=SIGNED_IN)
    async def cost_a_post(ctx: Context) -> MessageReply:
        return OK

    @routes.put("/write", requires=SIGNED_IN)
    async def cost_a_put(ctx: Context) -> MessageReply:
        return OK

    @routes.patch("/write", requires=SIGNED_IN)
    async def cost_a_patch(ctx: Context) -> MessageReply:
        return OK

    @routes.delete("/delete", requires=SIGNED_IN)
    async def cost_a_delete(ctx: Context) -> MessageReply:
        return OK

    @routes.post("/execute", requires=SIGNED_IN, cost="execute")
    async def cost_an_execution(ctx: Context) -> MessageReply:
        return OK

    @routes.post("/chat", requires=SIGNED_IN, cost="chat")
    async def cost_a_chat(ctx: Context) -> MessageReply:
        return OK

    return routes


def _anyone() -> Routes:
    routes = Routes(ANYONE, tag="test")

    @routes.get("", requires=PUBLIC)
    async def greet_anyone(ctx: Context) -> MessageReply:
        return MessageReply(message=ctx.caller.ip_address)

    @routes.post("/draws", requires=PUBLIC, status=201)
    async def draw_a_number(ctx: Context, body: Note) -> dict[str, str]:
        async with ctx.unit():
            return {"drawn": f"{body.name} {ctx.clock.time()}"}

    return routes


def _answers() -> Routes:
    """Answers that are not a plain JSON object with 200."""
    routes = Routes(f"{PREFIX}/answers", tag="test")

    @routes.get("/file", requires=SIGNED_IN)
    async def answer_with_a_file(ctx: Context) -> Download:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"hello "
            yield b"file"

        return Download(chunks=chunks, size=10, mime_type="text/plain", filename="a.txt")

    @routes.post("/created", requires=SIGNED_IN)
    async def answer_created(ctx: Context) -> Reply[MessageReply]:
        return Reply(OK, status=201, headers=(("Location", "/planted/here"),))

    @routes.delete("/nothing", requires=SIGNED_IN, status=204)
    async def answer_with_nothing(ctx: Context) -> None:
        return

    return routes


class Exchange:
    """One request whose body is sent piece by piece, whose headers may repeat, and whose client may leave."""

    def __init__(
        self, service: Any, method: str, path: str, headers: list[tuple[str, str]], ip: str = "203.0.113.7"
    ) -> None:
        self._pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._sent: list[dict[str, Any]] = []
        self.on_start: Callable[[], Any] | None = None
        self.asked_for_body = asyncio.Event()
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (name.lower().encode(), value.encode("latin-1")) for name, value in (("host", HOST), *headers)
            ],
            "client": (ip, 40000),
        }
        self._task = asyncio.create_task(service(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        self.asked_for_body.set()
        return await self._pieces.get()

    async def _send(self, message: dict[str, Any]) -> None:
        if self.on_start is not None and message["type"] == "http.response.start":
            await self.on_start()
        self._sent.append(message)

    def send(self, piece: bytes, *, more: bool = True) -> None:
        self._pieces.put_nowait({"type": "http.request", "body": piece, "more_body": more})

    def leave(self) -> None:
        self._pieces.put_nowait({"type": "http.disconnect"})

    async def is_reading(self) -> None:
        """Wait until the service has read everything that was sent and asks for more."""
        await asyncio.wait_for(self.asked_for_body.wait(), PATIENCE_S)
        while self._pieces.qsize():
            await asyncio.sleep(0.001)

    async def answer(self) -> Response | None:
        await asyncio.wait_for(self._task, PATIENCE_S)
        if not self._sent:
            return None
        body = b"".join(message.get("body", b"") for message in self._sent[1:])
        return Response(self._sent[0]["status"], self._sent[0]["headers"], body)
