"""Uploads through the files API: what each purpose takes, and how long an unclaimed file of it is kept."""

import asyncio

import msgspec

from retinue.adapters import images
from retinue.adapters.documents import KINDS, extension
from retinue.files import service as files
from retinue.files.events import FileUploaded
from retinue.files.media_types import ANYTHING, recorded_type
from retinue.files.models import File, Purpose
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.http.sniffing import SCRIPT, sniff_file
from retinue.kit.http.uploads import FormData, UploadedFile

_MIB = 1024 * 1024
_DAY_S = 24 * 3600


class Rule(msgspec.Struct, frozen=True):
    """Without `kept_s`, a file stays until someone deletes it."""

    most_bytes: int
    kept_s: int | None = None


RULES = {
    Purpose.form: Rule(100 * _MIB, _DAY_S),
    Purpose.knowledge: Rule(25 * _MIB),
    Purpose.avatar: Rule(2 * _MIB, _DAY_S),
    Purpose.tool: Rule(_MIB),
    Purpose.chat: Rule(25 * _MIB, 30 * _DAY_S),
}
LARGEST = max(rule.most_bytes for rule in RULES.values())


async def upload(ctx: Context, form: FormData) -> File:
    purpose, uploaded = _purpose(form.fields.get("purpose", Purpose.chat.value)), form.file("file")
    rule = RULES[purpose]
    if uploaded.size > rule.most_bytes:
        raise FileTooLarge(f"A file for {purpose} may have at most {rule.most_bytes // _MIB} MiB.")
    if uploaded.size == 0:
        raise UnsupportedFileType("The file is empty.")
    if purpose is Purpose.avatar:
        file = await _store_picture(ctx, uploaded, rule)
    else:
        file = await files.store(
            ctx,
            uploaded,
            purpose=purpose,
            filename=uploaded.filename,
            mime_type=await _type(uploaded, purpose),
            kept_s=rule.kept_s,
        )
    ctx.emit(FileUploaded.about(file, mime_type=file.mime_type, size_bytes=file.size_bytes))
    return file


def _purpose(written: str) -> Purpose:
    try:
        return Purpose(written)
    except ValueError:
        raise Invalid({"purpose": f"must be one of {', '.join(Purpose)}"}) from None


async def _type(uploaded: UploadedFile, purpose: Purpose) -> str:
    if purpose is Purpose.knowledge:
        return _learnable_type(uploaded.filename)
    sniffed = await asyncio.to_thread(sniff_file, uploaded.path)
    # Scripts of tools run in the sandbox, whatever their names.
    is_script = purpose is Purpose.tool and sniffed == SCRIPT
    return ANYTHING if is_script else recorded_type(uploaded.filename, sniffed)


def _learnable_type(filename: str) -> str:
    """By the name alone: the content is looked at where it is read, by a process that has nothing to lose."""
    ending = extension(filename)
    if ending is None:
        raise UnsupportedFileType(
            "This type of file cannot be learned from.",
            details={"filename": filename, "accepted": sorted(KINDS)},
        )
    return KINDS[ending]


async def _store_picture(ctx: Context, uploaded: UploadedFile, rule: Rule) -> File:
    """Anyone may see an avatar in the page itself, so it is a picture of our own making."""
    picture = await images.avatar(uploaded.path)
    return await files.store(
        ctx,
        picture.content,
        purpose=Purpose.avatar,
        filename="avatar.webp",
        mime_type=picture.mime_type,
        kept_s=rule.kept_s,
    )
