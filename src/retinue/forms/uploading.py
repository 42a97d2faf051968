"""Files of a form: uploaded for one of its fields, taken up by one submission, served as attachments."""

import asyncio
from typing import Any

import sqlalchemy as sa

from retinue.files import service as files
from retinue.files.errors import FileNotFound
from retinue.files.media_types import recorded_type
from retinue.files.models import File, Purpose
from retinue.forms.errors import FieldNotFound, TooManySubmissions
from retinue.forms.models import Form, FormUpload, Submission, SubmittedFile
from retinue.forms.opening import OpenForm
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.fields import FieldError, FieldType, allowed_endings, max_file_bytes
from retinue.kit.http.sniffing import sniff_file
from retinue.kit.http.uploads import FormData, UploadedFile
from retinue.kit.jobs.declare import NoPayload, job

LARGEST = 100 * 1024 * 1024
KEPT_S = 24 * 3600
MOST_WAITING = 1000
"""Uploads to one form that no submission has taken up yet."""
_BATCH = 500

_uploads = FormUpload.__table__
_WAITING: Statement[Any] = Statement(
    sa.select(sa.func.count()).where(
        _uploads.c.form_id == sa.bindparam("form_id", type_=sa.Text()), _uploads.c.submission_id.is_(None)
    )
)
_EXPIRED: Statement[Any] = Statement(
    sa.select(_uploads.c.id)
    .where(_uploads.c.expires_at < sa.bindparam("now", type_=sa.Text()))
    .limit(_BATCH)
    .with_for_update(skip_locked=True)
)
_FORGET: Statement[Any] = Statement(sa.delete(_uploads).where(one_of(_uploads.c.id, "ids")))


async def upload(ctx: Context, form: OpenForm, sent: FormData) -> File:
    """The bytes first, then one transaction for what is known of them."""
    uploaded = sent.file("file")
    field_id = sent.fields.get("field_id", "")
    if not field_id:
        raise Invalid({"field_id": "is required"})
    field = form.fields.by_id.get(field_id)
    if field is None:
        raise FieldNotFound
    if field.type is not FieldType.file:
        raise Invalid({"field_id": "is not a file field"})
    mime_type = await _checked_type(field.definition, uploaded)
    if int(await ctx.db.scalar(_WAITING, form_id=form.id)) >= MOST_WAITING:
        reset = int(ctx.clock.time()) + KEPT_S
        raise TooManySubmissions(limit=MOST_WAITING, window=KEPT_S, retry_after=3600, reset=reset)
    kept = await files.keep(
        ctx,
        uploaded,
        purpose=Purpose.form,
        filename=uploaded.filename,
        mime_type=mime_type,
        kept_s=KEPT_S,
    )
    await ctx.db.insert(kept)
    await ctx.db.insert(
        FormUpload(id=kept.id, form_id=form.id, field_id=field_id, expires_at=kept.expires_at)
    )
    return kept


async def _checked_type(definition: dict[str, Any], uploaded: UploadedFile) -> str:
    if uploaded.size > max_file_bytes(definition):
        most = max_file_bytes(definition)
        raise FileTooLarge(f"A file for this field may have at most {most // 1024} KiB.")
    if uploaded.size == 0:
        raise UnsupportedFileType("The file is empty.")
    refuse_ending(definition, uploaded.filename)
    return recorded_type(uploaded.filename, await asyncio.to_thread(sniff_file, uploaded.path))


def refuse_ending(definition: dict[str, Any], filename: str) -> None:
    allowed = allowed_endings(definition)
    ending = filename.rpartition(".")[2].lower() if "." in filename else ""
    if allowed is not None and ending not in allowed:
        raise UnsupportedFileType(details={"filename": filename, "allowed_types": sorted(allowed)})


async def claim_all(
    ctx: Context, form: OpenForm, submission: Submission
) -> tuple[list[SubmittedFile], list[FieldError]]:
    """Take up the files that the answers name: each belongs to this submission and to no other."""
    taken: list[SubmittedFile] = []
    errors: list[FieldError] = []
    for field in form.fields.asked:
        value = submission.data.get(field.id)
        if field.type is not FieldType.file or value is None:
            continue
        for file_id in sorted(value) if isinstance(value, list) else [value]:
            try:
                file = await _claim(ctx, form, field.definition, file_id, submission.id)
            except (FileNotFound, UnsupportedFileType, FileTooLarge):
                errors.append(FieldError(field.id, "names a file that was not uploaded for this field"))
            else:
                taken.append(SubmittedFile(field.id, file.id, file.filename, file.size_bytes, file.mime_type))
    return taken, errors


async def is_waiting(ctx: Context, form: OpenForm, field_id: str, file_id: str) -> bool:
    """Whether a file was uploaded for this field and no submission has taken it up yet."""
    upload = await ctx.db.find(FormUpload, id=file_id, form_id=form.id, field_id=field_id)
    if upload is None or upload.submission_id is not None:
        return False
    file = await ctx.db.get(File, file_id)
    return file is not None and file.expires_at is not None and file.expires_at > ctx.now


async def _claim(
    ctx: Context, form: OpenForm, definition: dict[str, Any], file_id: str, submission_id: str
) -> File:
    upload = await ctx.db.lock(FormUpload, file_id)
    if upload is None:
        return await _claim_own(ctx, form, definition, file_id, submission_id)
    is_for_this = upload.form_id == form.id and upload.field_id == definition["id"]
    if not is_for_this or upload.submission_id is not None:
        raise FileNotFound
    file = await files.claim(ctx, file_id, purpose=Purpose.form)
    await ctx.db.update(upload, submission_id=submission_id, expires_at=None)
    return file


async def _claim_own(
    ctx: Context, form: OpenForm, definition: dict[str, Any], file_id: str, submission_id: str
) -> File:
    """Of the files that someone who is signed in uploaded for a form, without saying for which."""
    held = await ctx.db.get(File, file_id)
    is_own = held is not None and ctx.principal.kind == "user" and held.created_by == ctx.principal.id
    if held is None or not is_own:
        raise FileNotFound
    refuse_ending(definition, held.filename)
    if held.size_bytes > max_file_bytes(definition):
        raise FileTooLarge
    file = await files.claim(ctx, file_id, purpose=Purpose.form)
    await ctx.db.insert(
        FormUpload(id=file.id, form_id=form.id, field_id=definition["id"], submission_id=submission_id)
    )
    return file


async def find_file(ctx: Context, form: Form, file_id: str) -> File | None:
    """A file of this form, from its upload on."""
    upload = await ctx.db.find(FormUpload, id=file_id, form_id=form.id)
    return await ctx.db.get(File, file_id) if upload is not None else None


async def fetch_file(ctx: Context, form: Form, file_id: str) -> File:
    found = await find_file(ctx, form, file_id)
    if found is None:
        raise FileNotFound
    return found


async def remove_files(ctx: Context, file_ids: list[str]) -> None:
    """Of a submission that goes."""
    for file_id in file_ids:
        upload = await ctx.db.get(FormUpload, file_id)
        if upload is not None:
            await ctx.db.delete(upload)
        file = await ctx.db.get(File, file_id)
        if file is not None:
            await files.remove(ctx, file)


@job(every_s=3600, timeout_s=600, transactional=False)
async def forget_uploads(ctx: Context, _payload: NoPayload) -> None:
    """The files themselves go by their own time; this forgets whose they would have been."""
    forgotten = _BATCH
    while forgotten == _BATCH:
        async with ctx.unit() as unit:
            system = unit.system("uploads of every tenant expire")
            await unit.unit_of_work.begin()
            expired = [row[0] for row in await system.rows(_EXPIRED, now=unit.now)]
            await system.execute(_FORGET, ids=listed(expired))
            forgotten = len(expired)
