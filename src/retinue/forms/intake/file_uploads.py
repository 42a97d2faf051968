"""Files of a form: uploaded for a field, claimed by one submission, served as attachments."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import sqlalchemy as sa

from retinue.files import service as files
from retinue.files.errors import FileNotFound
from retinue.files.media_types import resolve_media_type
from retinue.files.models import File, Purpose
from retinue.forms.errors import FieldNotFound, TooManySubmissions
from retinue.forms.models import Form, FormUpload, Submission, SubmittedFile
from retinue.forms.open_form import OpenForm
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.http.media_types import sniff_file
from retinue.kit.http.uploads import FileLimit, FormData, UploadedFile, readable_size
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import FieldError, FieldType, allowed_extensions, max_file_bytes

MAX_FILE_BYTES = 100 * 1024 * 1024
UNCLAIMED_TTL_SECONDS = 24 * 3600
MAX_UNCLAIMED_UPLOADS = 1000
"""The limit per form of uploads that no submission has claimed."""
_BATCH = 500

# For forms without a file field: enough to reach the error, in whatever order the parts arrive.
_MAX_UNWANTED_FILE_BYTES = 64 * 1024

_uploads = FormUpload.__table__
_files = File.__table__
_COUNT_UNCLAIMED = Statement(
    sa.select(sa.func.count()).where(
        _uploads.c.form_id == sa.bindparam("form_id", type_=sa.Text()), _uploads.c.submission_id.is_(None)
    )
)
_UPLOADED_BYTES = Statement(
    sa.select(sa.func.sum(_files.c.size_bytes))
    .select_from(_uploads.join(_files, _files.c.id == _uploads.c.id))
    .where(
        _uploads.c.form_id == sa.bindparam("form_id", type_=sa.Text()),
        _uploads.c.created_at > sa.bindparam("since", type_=_uploads.c.created_at.type),
    )
)
_EXPIRED = Statement(
    sa.select(_uploads.c.id)
    .where(_uploads.c.expires_at < sa.bindparam("now", type_=sa.Text()))
    .limit(_BATCH)
    .with_for_update(skip_locked=True)
)
_DELETE = Statement(sa.delete(_uploads).where(in_list(_uploads.c.id, "ids")))


def file_limit(form: OpenForm) -> FileLimit:
    """Return the largest size any field accepts; once `field_id` was sent, the limit of that field."""
    sizes = [
        max_file_bytes(field.definition)
        for field in form.fields.by_id.values()
        if field.type is FieldType.file
    ]

    def by_fields(sent: Mapping[str, str]) -> int:
        return max_file_bytes(_file_field(form, sent["field_id"])) if "field_id" in sent else MAX_FILE_BYTES

    return FileLimit(max(sizes, default=_MAX_UNWANTED_FILE_BYTES), by_fields)


def _file_field(form: OpenForm, field_id: str) -> JsonObject:
    if not field_id:
        raise Invalid({"field_id": "is required"})
    field = form.fields.by_id.get(field_id)
    if field is None:
        raise FieldNotFound
    if field.type is not FieldType.file:
        raise Invalid({"field_id": "is not a file field"})
    return field.definition


async def require_upload_quota(ctx: Context, form: OpenForm, more_bytes: int = 0) -> None:
    """Refuse if too many uploads are unclaimed or the form's daily bytes are used up."""
    if int(await ctx.db.scalar(_COUNT_UNCLAIMED, form_id=form.id)) >= MAX_UNCLAIMED_UPLOADS:
        raise _quota_exceeded(ctx, MAX_UNCLAIMED_UPLOADS)
    quota = ctx.instance.settings.form_upload_quota
    since = to_instant(parse_instant(ctx.now) - timedelta(seconds=UNCLAIMED_TTL_SECONDS))
    uploaded_bytes = int(await ctx.db.scalar(_UPLOADED_BYTES, form_id=form.id, since=since) or 0)
    if uploaded_bytes + more_bytes > quota or uploaded_bytes >= quota:
        raise _quota_exceeded(ctx, quota)


def _quota_exceeded(ctx: Context, limit: int) -> TooManySubmissions:
    reset = int(ctx.clock.time()) + UNCLAIMED_TTL_SECONDS
    return TooManySubmissions(limit=limit, window=UNCLAIMED_TTL_SECONDS, retry_after=3600, reset=reset)


async def upload(ctx: Context, form: OpenForm, sent: FormData) -> File:
    """Store the bytes first, then the rows in one transaction."""
    uploaded = sent.file("file")
    field_id = sent.fields.get("field_id", "")
    mime_type = await _validate_type(_file_field(form, field_id), uploaded)
    await require_upload_quota(ctx, form, uploaded.size)
    file = await files.store_content(
        ctx,
        uploaded,
        purpose=Purpose.form,
        filename=uploaded.filename,
        mime_type=mime_type,
        kept_s=UNCLAIMED_TTL_SECONDS,
    )
    await ctx.db.insert(file)
    await ctx.db.insert(
        FormUpload(id=file.id, form_id=form.id, field_id=field_id, expires_at=file.expires_at)
    )
    return file


async def _validate_type(definition: JsonObject, uploaded: UploadedFile) -> str:
    if uploaded.size > max_file_bytes(definition):
        limit = readable_size(max_file_bytes(definition))
        raise FileTooLarge(f"A file must be at most {limit}.")
    if uploaded.size == 0:
        raise UnsupportedFileType("The file is empty.")
    require_allowed_extension(definition, uploaded.filename)
    return resolve_media_type(uploaded.filename, await asyncio.to_thread(sniff_file, uploaded.path))


def require_allowed_extension(definition: JsonObject, filename: str) -> None:
    allowed = allowed_extensions(definition)
    ending = filename.rpartition(".")[2].lower() if "." in filename else ""
    if allowed is not None and ending not in allowed:
        raise UnsupportedFileType(details={"filename": filename, "allowed_types": sorted(allowed)})


async def claim_files(
    ctx: Context, form: OpenForm, submission: Submission
) -> tuple[list[SubmittedFile], list[FieldError]]:
    """Claim the files named in the answers for this submission."""
    claimed: list[SubmittedFile] = []
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
                claimed.append(
                    SubmittedFile(field.id, file.id, file.filename, file.size_bytes, file.mime_type)
                )
    return claimed, errors


async def is_unclaimed(ctx: Context, form: OpenForm, field_id: str, file_id: str) -> bool:
    """Return whether a file was uploaded for this field and is not claimed yet."""
    upload = await ctx.db.find(FormUpload, id=file_id, form_id=form.id, field_id=field_id)
    if upload is None or upload.submission_id is not None:
        return False
    file = await ctx.db.get(File, file_id)
    return file is not None and file.expires_at is not None and file.expires_at > ctx.now


async def _claim(
    ctx: Context, form: OpenForm, definition: JsonObject, file_id: str, submission_id: str
) -> File:
    upload = await ctx.db.lock(FormUpload, file_id)
    if upload is None:
        return await _claim_signed_in_upload(ctx, form, definition, file_id, submission_id)
    is_for_this = upload.form_id == form.id and upload.field_id == definition["id"]
    if not is_for_this or upload.submission_id is not None:
        raise FileNotFound
    file = await files.claim(ctx, file_id, purpose=Purpose.form)
    await ctx.db.update(upload, submission_id=submission_id, expires_at=None)
    return file


async def _claim_signed_in_upload(
    ctx: Context, form: OpenForm, definition: JsonObject, file_id: str, submission_id: str
) -> File:
    """Claim a file that a signed-in user uploaded through the files API, without naming a form."""
    own_file = await ctx.db.get(File, file_id)
    owner_id = ctx.principal.owner_id
    if own_file is None or not owner_id or own_file.created_by != owner_id:
        raise FileNotFound
    require_allowed_extension(definition, own_file.filename)
    if own_file.size_bytes > max_file_bytes(definition):
        raise FileTooLarge
    file = await files.claim(ctx, file_id, purpose=Purpose.form)
    await ctx.db.insert(
        FormUpload(id=file.id, form_id=form.id, field_id=definition["id"], submission_id=submission_id)
    )
    return file


async def find_file(ctx: Context, form: Form, file_id: str) -> File | None:
    """Return a file of this form, submitted or not."""
    upload = await ctx.db.find(FormUpload, id=file_id, form_id=form.id)
    return await ctx.db.get(File, file_id) if upload is not None else None


async def fetch_file(ctx: Context, form: Form, file_id: str) -> File:
    file = await find_file(ctx, form, file_id)
    if file is None:
        raise FileNotFound
    return file


async def remove_files(ctx: Context, file_ids: list[str]) -> None:
    """Delete the files of a submission that is being deleted."""
    for file_id in file_ids:
        upload = await ctx.db.get(FormUpload, file_id)
        if upload is not None:
            await ctx.db.delete(upload)
        file = await ctx.db.get(File, file_id)
        if file is not None:
            await files.remove(ctx, file)


async def purge_uploads(ctx: Context) -> None:
    """Delete expired upload records. The files themselves expire on their own."""
    deleted = _BATCH
    while deleted == _BATCH:
        async with ctx.unit() as unit:
            system = unit.system("uploads of every tenant expire")
            await unit.unit_of_work.begin()
            expired = [row[0] for row in await system.rows(_EXPIRED, now=unit.now)]
            await system.execute(_DELETE, ids=list_parameter(expired))
            deleted = len(expired)
