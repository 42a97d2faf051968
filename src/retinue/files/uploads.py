"""Uploads through the files API: limits, accepted types and lifetime for each purpose."""

import asyncio

import msgspec

from retinue.adapters import images
from retinue.adapters.documents import MIME_TYPES_BY_EXTENSION, find_extension
from retinue.files import service as files
from retinue.files.events import FileUploaded
from retinue.files.media_types import OCTET_STREAM, resolve_media_type
from retinue.files.models import File, Purpose
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.http.media_types import SCRIPT, sniff_file
from retinue.kit.http.uploads import FormData, UploadedFile

_MIB = 1024 * 1024
_DAY_S = 24 * 3600


class PurposeRule(msgspec.Struct, frozen=True):
    """The limits of a purpose. Without `kept_s`, files stay until they are deleted."""

    max_bytes: int
    kept_s: int | None = None


PURPOSE_RULES = {
    Purpose.form: PurposeRule(100 * _MIB, _DAY_S),
    Purpose.knowledge: PurposeRule(25 * _MIB),
    Purpose.avatar: PurposeRule(2 * _MIB, _DAY_S),
    Purpose.tool: PurposeRule(_MIB),
    Purpose.chat: PurposeRule(25 * _MIB, 30 * _DAY_S),
}
MAX_FILE_BYTES = max(rule.max_bytes for rule in PURPOSE_RULES.values())


async def upload(ctx: Context, form: FormData) -> File:
    purpose, uploaded = _parse_purpose(form.fields.get("purpose", Purpose.chat.value)), form.file("file")
    rule = PURPOSE_RULES[purpose]
    if uploaded.size > rule.max_bytes:
        raise FileTooLarge(f"A file for {purpose} must be at most {rule.max_bytes // _MIB} MiB.")
    if uploaded.size == 0:
        raise UnsupportedFileType("The file is empty.")
    if purpose is Purpose.avatar:
        file = await _store_avatar(ctx, uploaded, rule)
    else:
        file = await files.store(
            ctx,
            uploaded,
            purpose=purpose,
            filename=uploaded.filename,
            mime_type=await _validate_type(uploaded, purpose),
            kept_s=rule.kept_s,
        )
    uploaded_event = FileUploaded.about(file, mime_type=file.mime_type, size_bytes=file.size_bytes)
    ctx.emit(uploaded_event, conversation_ids=files.readers_of_name(file))
    return file


def _parse_purpose(name: str) -> Purpose:
    try:
        return Purpose(name)
    except ValueError:
        raise Invalid({"purpose": f"must be one of {', '.join(Purpose)}"}) from None


async def _validate_type(uploaded: UploadedFile, purpose: Purpose) -> str:
    if purpose is Purpose.knowledge:
        return _knowledge_type(uploaded.filename)
    sniffed = await asyncio.to_thread(sniff_file, uploaded.path)
    # Tool scripts run only in the sandbox, so their names do not matter.
    is_script = purpose is Purpose.tool and sniffed == SCRIPT
    return OCTET_STREAM if is_script else resolve_media_type(uploaded.filename, sniffed)


def _knowledge_type(filename: str) -> str:
    """Return the type by the name alone: only the isolated parser process opens the content."""
    ending = find_extension(filename)
    if ending is None:
        raise UnsupportedFileType(
            "This file type is not supported for knowledge. Use one of the accepted types.",
            details={"filename": filename, "accepted": sorted(MIME_TYPES_BY_EXTENSION)},
        )
    return MIME_TYPES_BY_EXTENSION[ending]


async def _store_avatar(ctx: Context, uploaded: UploadedFile, rule: PurposeRule) -> File:
    """Store an avatar re-encoded by us, because browsers display it inline."""
    picture = await images.avatar(uploaded.path, ctx.requester)
    return await files.store(
        ctx,
        picture.content,
        purpose=Purpose.avatar,
        filename="avatar.webp",
        mime_type=picture.mime_type,
        kept_s=rule.kept_s,
    )
