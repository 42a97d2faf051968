"""Attachments of a message: checked and converted before anything of its turn is stored."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from retinue.adapters.documents import DocumentError, DocumentTooLarge, ParserUnavailable
from retinue.adapters.images import ImageReaderUnavailable, ImageTooLarge, UnreadableImage
from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.chat.attachment_schemas import AttachmentRef
from retinue.chat.attachments.derivation import TranscriptionPayer, derive, find_kind
from retinue.chat.attachments.visitor_limits import visitor_slot
from retinue.chat.engine.attached import Attachment, truncation_warnings, with_shares
from retinue.chat.errors import ModelCannotSee, SttNotConfigured, TooManyConversions
from retinue.chat.turn.billing import BudgetReservation
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


class RequestedFiles(msgspec.Struct, frozen=True):
    """The files that come with a message; `find` returns those that the caller may use."""

    refs: Sequence[AttachmentRef]
    find: FindFile = find_visible

    @classmethod
    def of(
        cls, refs: Sequence[AttachmentRef] | None, find: FindFile = find_visible
    ) -> "RequestedFiles | None":
        return cls(refs, find) if refs else None


async def load_files(ctx: Context, request: TurnRequest, files: RequestedFiles) -> TurnRequest:
    """Return the turn with these files, which are still to be converted; raise if they cannot be sent."""
    loaded = [await _load(ctx, number, ref, files.find) for number, ref in enumerate(files.refs)]
    _refuse_repeated(files.refs)
    attachments = tuple(_unconverted(number, file) for number, file in enumerate(loaded))
    if any(attachment.is_image for attachment in attachments):
        await _require_sight(ctx, request)
    return msgspec.structs.replace(request, attachments=attachments)


async def convert(
    ctx: Context, request: TurnRequest, reservation: BudgetReservation | None = None
) -> TurnRequest:
    """Return the turn with what models get of its files; `ctx` must have no open transaction.

    Recordings are transcribed; the budgets of `reservation` pay for that, if it is given.
    """
    single_call = (reservation or BudgetReservation(ctx)).single_call
    payer = TranscriptionPayer(request.agent.id, lambda: single_call(request))
    async with visitor_slot(ctx):
        attachments = with_shares(await _convert_all(ctx, request.attachments, payer))
    _check_image_bytes(attachments)
    converted = msgspec.structs.replace(
        request,
        attachments=attachments,
        warnings=(*request.warnings, *truncation_warnings(attachments)),
    )
    if reservation is not None:
        await reservation.require_affordable(converted)
    return converted


async def _convert_all(
    ctx: Context, unconverted: Sequence[Attachment], payer: TranscriptionPayer
) -> list[Attachment]:
    numbered = list(enumerate(unconverted))
    if ctx.requester.is_visitor:
        # One after the other: a message of ten files holds no more than any other.
        return [await _convert(ctx, number, attachment, payer) for number, attachment in numbered]
    outcomes = await asyncio.gather(
        *(_convert(ctx, number, attachment, payer) for number, attachment in numbered),
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


async def _convert(
    ctx: Context, number: int, attachment: Attachment, payer: TranscriptionPayer
) -> Attachment:
    field = f"attachments.{number}"
    file = await ctx.db.get(File, attachment.file_id)
    if file is None:
        raise FileNotFound(details={field: "does not exist"})
    try:
        derivative = await derive(ctx, file, attachment.kind, payer)
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
