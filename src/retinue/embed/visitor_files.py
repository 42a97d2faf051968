"""Files of visitors: uploaded with an embed key, and bound to the session that they were uploaded in."""

import asyncio
from datetime import timedelta

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.chat.attachments.derivation import find_kind
from retinue.chat.attachments.preparation import unsupported_type
from retinue.embed.errors import AttachmentsNotAllowed, TooManyFiles
from retinue.embed.models import EmbedKey, VisitorFile
from retinue.embed.schemas import VisitorFileOut
from retinue.files import service as files
from retinue.files.media_types import resolve_media_type
from retinue.files.models import File, Purpose
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, UnsupportedFileType
from retinue.kit.http.media_types import sniff_file
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import FileLimit, FormData
from retinue.kit.ids import hash_token

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_FILES_PER_SESSION = 20
# Sessions are chosen by the client, so what a key stores in a day is limited as well.
MAX_BYTES_PER_KEY = 2 * 1024**3
MAX_SESSION_ID_LENGTH = 128
_DAY_SECONDS = 24 * 3600

_visitor_files, _files = VisitorFile.__table__, File.__table__
_COUNT = Statement(
    sa.select(sa.func.count())
    .select_from(_visitor_files)
    .where(
        _visitor_files.c.session_hash == sa.bindparam("session_hash"),
        _visitor_files.c.created_at > sa.bindparam("since"),
    )
)
_STORED_BYTES = Statement(
    sa.select(sa.func.coalesce(sa.func.sum(_files.c.size_bytes), 0)).where(
        _files.c.created_by == sa.bindparam("key_id"),
        _files.c.purpose == Purpose.chat.value,
        _files.c.created_at > sa.bindparam("since"),
    )
)


async def require_allowed(ctx: Context) -> None:
    """Raise unless visitors may attach files with this embed key."""
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    if key is None or not key.allow_attachments:
        raise AttachmentsNotAllowed


async def admit(ctx: Context, _request: Request, agent: Agent) -> FileLimit:  # noqa: ARG001
    """Refuse before the file is read."""
    await require_allowed(ctx)
    return FileLimit(MAX_FILE_BYTES)


async def upload(ctx: Context, form: FormData) -> VisitorFileOut:
    """Store a file for the session; it expires after a day unless a message attaches it."""
    uploaded, session_hash = form.file("file"), _hash_session(ctx, form.fields.get("session_id", ""))
    if uploaded.size == 0:
        raise UnsupportedFileType("The file is empty.")
    sniffed = await asyncio.to_thread(sniff_file, uploaded.path)
    mime_type = resolve_media_type(uploaded.filename, sniffed)
    if find_kind(uploaded.filename, mime_type) is None:
        raise unsupported_type("file")
    await _require_quota(ctx, session_hash, uploaded.size)
    file = await files.store_content(
        ctx,
        uploaded,
        purpose=Purpose.chat,
        filename=uploaded.filename,
        mime_type=mime_type,
        kept_s=_DAY_SECONDS,
    )
    await ctx.db.insert(file)
    await ctx.db.insert(VisitorFile(key_id=ctx.principal.id, session_hash=session_hash, file_id=file.id))
    return VisitorFileOut.of(file, file_id=file.id)


async def find(ctx: Context, session_id: str, file_id: str) -> File | None:
    """Return a file that was uploaded in this session."""
    owned = await ctx.db.find(VisitorFile, file_id=file_id)
    if owned is None or owned.session_hash != _hash_session(ctx, session_id):
        return None
    return await ctx.db.get(File, file_id)


def _hash_session(ctx: Context, session_id: str) -> str:
    if not 1 <= len(session_id) <= MAX_SESSION_ID_LENGTH:
        raise Invalid({"session_id": f"must be 1 to {MAX_SESSION_ID_LENGTH} characters"})
    return hash_token(f"{ctx.principal.id}\n{session_id}")


async def _require_quota(ctx: Context, session_hash: str, more_bytes: int) -> None:
    since = to_instant(parse_instant(ctx.now) - timedelta(seconds=_DAY_SECONDS))
    if int(await ctx.db.scalar(_COUNT, session_hash=session_hash, since=since)) >= MAX_FILES_PER_SESSION:
        raise _quota_exceeded(ctx, MAX_FILES_PER_SESSION)
    stored = int(await ctx.db.scalar(_STORED_BYTES, key_id=ctx.principal.id, since=since))
    if stored + more_bytes > MAX_BYTES_PER_KEY:
        raise _quota_exceeded(ctx, MAX_BYTES_PER_KEY)


def _quota_exceeded(ctx: Context, limit: int) -> TooManyFiles:
    reset = int(ctx.clock.time()) + _DAY_SECONDS
    return TooManyFiles(
        limit=limit,
        window=_DAY_SECONDS,
        retry_after=3600,
        reset=reset,
        message="Too many files were uploaded within a day. Try again later.",
    )
