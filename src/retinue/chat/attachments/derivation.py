"""The form in which models get an attached file, made once in a confined process and stored beside it.

Images lose their metadata and everything hidden in them; documents and recordings become text. Equal files of
a tenant are converted once, also if they are attached at the same time.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath

import msgspec

from retinue.adapters import documents, images
from retinue.adapters.blobs import BlobMissing
from retinue.adapters.documents import DocumentPiece
from retinue.adapters.llm import Audio
from retinue.chat.attachment_models import (
    FileDerivative,
)
from retinue.chat.engine.attached import PAGE_SEPARATOR, AttachmentKind
from retinue.chat.engine.attachment_content import MAX_STORED_CHARACTERS
from retinue.chat.recording_types import FILENAMES_BY_TYPE
from retinue.chat.voice_models import choose_voice_model
from retinue.files import service as files
from retinue.files.errors import FileNotFound
from retinue.files.local_copies import read_start, temporary_copy
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.single_flight import SingleFlight
from retinue.providers import model_calls
from retinue.usage.single_call import SingleCall

DERIVED_PURPOSE = "attachment"
_KEPT_SECONDS = 24 * 3600
_PIECE_LENGTH = 10_000
# Documents without pages are cut into parts of this length, for `read_attachment`.
_PART_LENGTH = 12_000
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_AUDIO_TYPES = frozenset(FILENAMES_BY_TYPE) - {"video/mp4"}
_TEXT_ENDINGS = frozenset({".html", ".htm", ".json", ".xml"})
_TEXT_TYPE = "text/plain; charset=utf-8"


class TranscriptionPayer(msgspec.Struct, frozen=True):
    """The agent that a recording is transcribed for, and the budgets that pay: a hold for each call."""

    agent_id: str
    hold_call: Callable[[], SingleCall]


class DerivedContent(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    mime_type: str
    pages: int | None = None
    characters: int = 0


def find_kind(filename: str, mime_type: str) -> AttachmentKind | None:
    """Return what becomes of a file, or None if models cannot get it."""
    if mime_type in _IMAGE_TYPES:
        return AttachmentKind.image
    if mime_type in _AUDIO_TYPES:
        return AttachmentKind.audio
    is_text = _ending(filename) in _TEXT_ENDINGS
    return AttachmentKind.document if is_text or documents.find_extension(filename) else None


class Conversions(SingleFlight[DerivedContent]):
    """The conversions that this process is making, by tenant and content."""

    def __init__(self, _instance: object = None) -> None:
        super().__init__()


async def derive(ctx: Context, file: File, kind: AttachmentKind, payer: TranscriptionPayer) -> FileDerivative:
    """Return what models get of the file, made on its first use; `ctx` must have no open transaction."""
    existing = await find_derivative(ctx, file)
    if existing is not None:
        return existing
    # Visitors have a smaller limit, so their refusals are not those of others.
    # Transcribing costs money, which the budgets of one caller and one agent pay or refuse.
    payers = (ctx.principal.id, payer.agent_id) if kind is AttachmentKind.audio else ()
    flight = (ctx.tenant_id, _content_key(file, kind), ctx.requester.is_visitor, payers)
    work = ctx.detached()
    made = await ctx.state(Conversions).run(flight, lambda: _find_or_make(work, file, kind, payer))
    return await find_derivative(ctx, file) or await _keep(ctx, file, kind, made)


async def _find_or_make(
    ctx: Context, file: File, kind: AttachmentKind, payer: TranscriptionPayer
) -> DerivedContent:
    """Return what an equal file was converted into; else convert this one, and store that for others."""
    found = await _find_converted(ctx, _content_key(file, kind))
    if found is not None:
        return found
    try:
        async with temporary_copy(ctx, file) as path:
            made = await _MAKE[kind](ctx, file, path, payer)
    except BlobMissing:
        raise FileNotFound from None
    with contextlib.suppress(FileNotFound):
        await _keep(ctx, file, kind, made)
    return made


async def _keep(ctx: Context, file: File, kind: AttachmentKind, made: DerivedContent) -> FileDerivative:
    derived = await files.store_content(
        ctx,
        made.content,
        purpose=DERIVED_PURPOSE,
        filename=file.filename,
        mime_type=made.mime_type,
        kept_s=_KEPT_SECONDS,
    )
    # Nobody's own file: it is reached through the original only.
    derived.created_by = ""
    return await _store(ctx, file, derived, kind, made)


def _content_key(file: File, kind: AttachmentKind) -> str:
    """Return what files of a tenant share if they are converted alike: bytes, and the way to read them."""
    reading = _parsed_name(file).rpartition(".")[2].lower() if kind is AttachmentKind.document else kind
    return f"{file.sha256}:{reading}"


async def _find_converted(ctx: Context, content_key: str) -> DerivedContent | None:
    """Return what an equal file was converted into, if that is still stored."""
    found = await ctx.db.find(FileDerivative, content_key=content_key)
    if found is None:
        return None
    content = await read_start(ctx, found.derived_file_id, found.size_bytes)
    if content is None or len(content) != found.size_bytes:
        return None
    return DerivedContent(
        content=content, mime_type=found.mime_type, pages=found.pages, characters=found.characters
    )


async def find_derivative(ctx: Context, file: File) -> FileDerivative | None:
    return await ctx.db.find(FileDerivative, file_id=file.id)


async def _store(
    ctx: Context, file: File, derived: File, kind: AttachmentKind, made: DerivedContent
) -> FileDerivative:
    try:
        async with ctx.unit() as unit:
            await unit.db.insert(derived)
            return await unit.db.insert(
                FileDerivative(
                    file_id=file.id,
                    derived_file_id=derived.id,
                    kind=kind,
                    mime_type=made.mime_type,
                    size_bytes=derived.size_bytes,
                    pages=made.pages,
                    characters=made.characters,
                    content_key=_content_key(file, kind),
                )
            )
    except UniqueViolation:
        # Another request was faster; the bytes stored here have no row and are swept.
        existing = await find_derivative(ctx, file)
        if existing is not None:
            return existing
    except ReferenceViolation:
        pass
    raise FileNotFound


async def _make_image(ctx: Context, _file: File, path: Path, _payer: TranscriptionPayer) -> DerivedContent:
    image = await images.model_image(path, ctx.requester)
    return DerivedContent(content=image.content, mime_type=image.mime_type)


async def _make_text(ctx: Context, file: File, path: Path, _payer: TranscriptionPayer) -> DerivedContent:
    parsed = await documents.parse(
        path, filename=_parsed_name(file), requester=ctx.requester, size=_PIECE_LENGTH, overlap=0
    )
    pages = await asyncio.to_thread(_join_pages, parsed.pieces, parsed.pages)
    return _text_content(pages, parsed.pages)


async def _make_transcript(ctx: Context, file: File, path: Path, payer: TranscriptionPayer) -> DerivedContent:
    model = await choose_voice_model(ctx, "transcription")
    content = await asyncio.to_thread(path.read_bytes)
    audio = Audio(content, FILENAMES_BY_TYPE[file.mime_type], file.mime_type)
    hold, via = payer.hold_call(), {"agent_id": payer.agent_id}
    heard = await model_calls.transcribe(ctx, model.configured_id, audio, hold=hold, via=via)
    return _text_content(_cut_parts(_clean(heard.text).strip() or "(No speech was recognized.)"), None)


def _parsed_name(file: File) -> str:
    """Return the name by which the parser knows how to read the file."""
    return "text.txt" if _ending(file.filename) in _TEXT_ENDINGS else file.filename


_MAKE: dict[
    AttachmentKind, Callable[[Context, File, Path, TranscriptionPayer], Awaitable[DerivedContent]]
] = {
    AttachmentKind.image: _make_image,
    AttachmentKind.document: _make_text,
    AttachmentKind.audio: _make_transcript,
}


def _text_content(pages: list[str], page_count: int | None) -> DerivedContent:
    marked = pages if len(pages) == 1 and page_count is None else _marked(pages)
    text = PAGE_SEPARATOR.join(marked)[:MAX_STORED_CHARACTERS]
    return DerivedContent(content=text.encode(), mime_type=_TEXT_TYPE, pages=page_count, characters=len(text))


def _marked(pages: list[str]) -> list[str]:
    return [f"[page {number}]\n{page}" for number, page in enumerate(pages, 1)]


def _join_pages(pieces: list[DocumentPiece], page_count: int | None) -> list[str]:
    """Return the text of each page; a document without pages is cut into parts."""
    if page_count is None:
        return _cut_parts("\n".join(_with_headings(pieces)))
    texts: list[list[str]] = [[] for _ in range(page_count)]
    for piece in pieces:
        texts[(piece.page or 1) - 1].append(_clean(piece.text))
    return ["\n".join(page) for page in texts]


def _with_headings(pieces: list[DocumentPiece]) -> list[str]:
    """Return the texts with the headings that the parser took out of them."""
    lines: list[str] = []
    last: str | None = None
    for piece in pieces:
        if piece.heading and piece.heading != last:
            lines.append(f"# {_clean(piece.heading)}")
        last = piece.heading
        lines.append(_clean(piece.text))
    return lines


def _cut_parts(text: str) -> list[str]:
    return [text[start : start + _PART_LENGTH] for start in range(0, len(text), _PART_LENGTH)]


def _clean(text: str) -> str:
    """Remove what separates pages, and what neither a database nor UTF-8 can hold."""
    return text.replace("\f", " ").replace("\0", "").encode(errors="replace").decode()


def _ending(filename: str) -> str:
    return PurePosixPath(filename.strip().replace("\\", "/")).suffix.lower()
