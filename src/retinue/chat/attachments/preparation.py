"""Attachments of a message: checked and converted before anything of its turn is stored."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from retinue.adapters.documents import DocumentError, DocumentTooLarge, ParserUnavailable
from retinue.adapters.images import ImageReaderUnavailable, ImageTooLarge, UnreadableImage
from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.chat.attachment_schemas import AttachmentRef
from retinue.chat.attachments.derivation import derive, find_kind
from retinue.chat.attachments.visitor_limits import visitor_slot
from retinue.chat.engine.attached import Attachment, truncation_warnings, with_shares
from retinue.chat.errors import ModelCannotSee, SttNotConfigured, TooManyConversions
from retinue.chat.turn.preconditions import require_answerable
from retinue.chat.turn.request import TurnRequest
from retinue.files.errors import FileNotFound
from retinue.files.models import File, Purpose
from retinue.files.queries import find_visible
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, Invalid, RetinueError, UnsupportedFileType
from retinue.providers.model_resolution import can_see, full_model_id

MAX_IMAGE_BYTES_IN_MESSAGE = 10 * 1024 * 1024

ACCEPTED_TYPES = (
    "png, jpeg, webp, gif, pdf, docx, txt, md, csv, html, json, xml, wav, mp3, webm, ogg, m4a, flac"
)

ATTACHMENT_ERRORS: tuple[type[RetinueError], ...] = (
    FileNotFound,
    FileTooLarge,
    UnsupportedFileType,
    ModelCannotSee,
    SttNotConfigured,
    ImageReaderUnavailable,
    ReadersBusy,
    TooManyConversions,
)

FindFile = Callable[[Context, str], Awaitable[File | None]]


async def attach(
    ctx: Context,
    request: TurnRequest,
    refs: Sequence[AttachmentRef] | None,
    *,
    find_file: FindFile = find_visible,
) -> TurnRequest:
    """Return the turn with these files, converted; `ctx` must have no open transaction.

    `find_file` returns the files that the caller may use.
    """
    if not refs:
        return request
    request = await check(ctx, request, refs, find_file=find_file)
    # Converting costs time, and transcribing money, so a turn that cannot be answered is refused first.
    await require_answerable(ctx, request)
    return await convert(ctx, request)


async def check(
    ctx: Context, request: TurnRequest, refs: Sequence[AttachmentRef], *, find_file: FindFile = find_visible
) -> TurnRequest:
    """Return the turn with these files, which are still to be converted; raise if they cannot be sent."""
    found = [await _load(ctx, number, ref, find_file) for number, ref in enumerate(refs)]
    _refuse_repeated(refs)
    attachments = tuple(_unconverted(number, file) for number, file in enumerate(found))
    if any(attachment.is_image for attachment in attachments):
        await _require_sight(ctx, request)
    return msgspec.structs.replace(request, attachments=attachments)


async def convert(ctx: Context, request: TurnRequest) -> TurnRequest:
    """Return the turn with what models get of its files; `ctx` must have no open transaction."""
    async with visitor_slot(ctx):
        attachments = with_shares(await _convert_all(ctx, request))
    _check_image_bytes(attachments)
    return msgspec.structs.replace(
        request,
        attachments=attachments,
        warnings=(*request.warnings, *truncation_warnings(attachments)),
    )


async def _convert_all(ctx: Context, request: TurnRequest) -> list[Attachment]:
    numbered, agent_id = list(enumerate(request.attachments)), request.agent.id
    if ctx.requester.is_visitor:
        # One after the other: a message of ten files holds no more than any other.
        return [await _convert(ctx, number, attachment, agent_id) for number, attachment in numbered]
    outcomes = await asyncio.gather(
        *(_convert(ctx, number, attachment, agent_id) for number, attachment in numbered),
        return_exceptions=True,
    )
    return [_raised_or(outcome) for outcome in outcomes]


async def _load(ctx: Context, number: int, ref: AttachmentRef, find_file: FindFile) -> File:
    file = await find_file(ctx, ref.file_id)
    if file is None:
        raise FileNotFound(details={f"attachments.{number}": "does not exist"})
    if file.purpose != Purpose.chat:
        raise Invalid({f"attachments.{number}": "must be a file with the purpose chat"})
    return file


def _refuse_repeated(refs: Sequence[AttachmentRef]) -> None:
    seen: set[str] = set()
    for number, ref in enumerate(refs):
        if ref.file_id in seen:
            raise Invalid({f"attachments.{number}": "is attached twice"})
        seen.add(ref.file_id)


def _unconverted(number: int, file: File) -> Attachment:
    kind = find_kind(file.filename, file.mime_type)
    if kind is None:
        raise unsupported_type(f"attachments.{number}")
    return Attachment(
        file_id=file.id,
        filename=file.filename,
        mime_type=file.mime_type,
        size_bytes=file.size_bytes,
        kind=kind,
    )


def unsupported_type(field: str) -> UnsupportedFileType:
    return UnsupportedFileType(
        "This type of file cannot be attached. Use one of the accepted types.",
        details={field: f"must be one of {ACCEPTED_TYPES}"},
    )


async def _require_sight(ctx: Context, request: TurnRequest) -> None:
    model = request.agent.primary_model
    if await can_see(ctx, model) is False:
        raise ModelCannotSee(await full_model_id(ctx, model))


async def _convert(ctx: Context, number: int, attachment: Attachment, agent_id: str) -> Attachment:
    field = f"attachments.{number}"
    file = await ctx.db.get(File, attachment.file_id)
    if file is None:
        raise FileNotFound(details={field: "does not exist"})
    try:
        derivative = await derive(ctx, file, attachment.kind, agent_id)
    except (DocumentTooLarge, ImageTooLarge) as error:
        raise FileTooLarge(error.message, details={field: error.message}) from error
    except ParserUnavailable as error:
        raise ImageReaderUnavailable(error.message) from error
    except UnsupportedFileType as error:
        raise UnsupportedFileType(error.message, details={field: error.message}) from error
    except (DocumentError, UnreadableImage) as error:
        raise Invalid({field: error.message}, error.message) from error
    except Invalid as error:
        # A recording is refused by the name that it has where it is sent alone.
        raise Invalid({field: "; ".join(map(str, (error.details or {}).values()))}) from error
    return msgspec.structs.replace(
        attachment,
        pages=derivative.pages,
        derived_file_id=derivative.derived_file_id,
        derived_mime_type=derivative.mime_type,
        derived_bytes=derivative.size_bytes,
        characters=derivative.characters,
    )


def _raised_or(outcome: Attachment | BaseException) -> Attachment:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _check_image_bytes(attachments: Sequence[Attachment]) -> None:
    total = sum(attachment.derived_bytes for attachment in attachments if attachment.is_image)
    if total > MAX_IMAGE_BYTES_IN_MESSAGE:
        limit = MAX_IMAGE_BYTES_IN_MESSAGE // 1024**2
        raise FileTooLarge(f"The images of a message must have at most {limit} MiB in all. Send fewer.")
