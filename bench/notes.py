"""The record both sides store, and the domain on our side."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec

from bench.requests import NOTE_CHUNKS
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.errors import RetinueError
from retinue.kit.events.declare import Event, event
from retinue.kit.http.replies import EventStream
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.http.sse import ServerSentEvent as StreamEvent
from retinue.kit.lists import Listing, Page, PageQuery
from retinue.kit.schema.base import Schema


@table("bench_notes", prefix="note", indexes=[("tenant_id", "created_at")])
class Note(TenantRecord, kw_only=True):
    title: str
    body: str


class NoteNotFound(RetinueError):
    """There is no such note."""

    status, code = 404, "note_not_found"


@event("system.bench.note_created", subject="note_id")
class NoteCreated(Event, kw_only=True):
    """A note was written."""

    note_id: str
    title: str


class NoteCreate(Schema, kw_only=True):
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    body: str


class NoteOut(Schema, kw_only=True):
    id: str
    title: str
    body: str
    created_at: str
    updated_at: str


class Chunk(msgspec.Struct):
    delta: str


NoteById = Annotated[Note, path_loader(Note, "note_id", NoteNotFound)]
listing = Listing(Note)
routes = Routes("/bench/notes", tag="bench")


@routes.get("", requires="agents:read")
async def list_notes(ctx: Context, query: PageQuery) -> Page[NoteOut]:
    return (await listing.page(ctx.db, query)).to_page(NoteOut.of)


@routes.post("", requires="agents:write", status=201)
async def create_note(ctx: Context, body: NoteCreate) -> NoteOut:
    note = await ctx.db.insert(Note(title=body.title, body=body.body))
    ctx.emit(NoteCreated(note_id=note.id, title=note.title))
    return NoteOut.of(note)


@routes.get("/stream", requires="agents:read")
async def stream_notes(ctx: Context) -> EventStream:
    async def events() -> AsyncIterator[StreamEvent]:
        for number in range(NOTE_CHUNKS):
            yield StreamEvent("content_delta", Chunk(delta="a few words "), number)

    return EventStream(events)


@routes.get("/{note_id}", requires="agents:read")
async def get_note(ctx: Context, note: NoteById) -> NoteOut:
    return NoteOut.of(note)


def padding(count: int) -> Routes:
    """Routes that nobody calls, so that look-up is measured in a table of a real product's size."""
    group = Routes("/bench/padding", tag="bench")
    for number in range(count):

        async def unused(ctx: Context, item_id: str) -> None: ...

        unused.__name__ = f"unused_{number}"
        group.get(f"/area{number}/{{item_id}}/part", requires="agents:read", status=204)(unused)
    return group


manifest = Manifest(name="bench", records=(Note,), events=(NoteCreated,), routes=(routes, padding(120)))
