"""The server's end: one child process per document, limited in time, memory and output."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from pathlib import Path

import msgspec
import structlog

from retinue.adapters.documents.errors import (
    DocumentError,
    DocumentTooLarge,
    ParserUnavailable,
    UnreadableDocument,
    document_error,
)
from retinue.adapters.documents.file_types import (
    DOCX,
    HTML_EXTENSION,
    MIME_TYPES_BY_EXTENSION,
    find_extension,
)
from retinue.adapters.documents.parsed_document import DocumentPiece, ParsedDocument
from retinue.adapters.sandbox.reader_places import reader_place
from retinue.adapters.sandbox.readers import reader_command
from retinue.kit import subprocesses
from retinue.kit.fair_queue import QueuedCaller
from retinue.kit.http import media_types

log = structlog.get_logger("documents")

MAX_FILE_BYTES = 32 * 1024 * 1024
# Four times the child's CPU time, to allow for a busy machine.
WALL_SECONDS = 120.0
MAX_PIECE_LENGTH, PIECE_OVERLAP_LENGTH = 1200, 150

# Slightly above the child's own limits: only a compromised child exceeds them.
_MAX_REPLY_BYTES = 48 * 1024 * 1024
_MAX_PIECES = 40_000
_PROGRAM = "retinue.adapters.documents.child.program"
_LIBRARIES = ("pypdfium2_raw", "charset_normalizer")

_TEXT_TYPES = {media_types.HTML, media_types.SVG, media_types.XML, media_types.PHP, media_types.SCRIPT}
# The child failed before its first line, for example because a library is missing.
_EXIT_NOT_STARTED = 1
_TOO_SLOW = "The document takes too long to parse."
_BROKEN = "The document could not be parsed: it is damaged or needs too much memory."


class _ChildLine(msgspec.Struct):
    """A line from the child: a piece, the end, or an error."""

    text: str = ""
    page: int | None = None
    heading: str | None = None
    is_end: bool = False
    is_truncated: bool = False
    pages: int | None = None
    error: str = ""
    message: str = ""
    fault: str = ""


class _EncodingUnknown(Exception):
    """The text is not Unicode; the first child does not load the slow library that guesses encodings."""


async def parse(
    path: Path,
    *,
    filename: str,
    requester: QueuedCaller,
    is_web_page: bool = False,
    size: int = MAX_PIECE_LENGTH,
    overlap: int = PIECE_OVERLAP_LENGTH,
) -> ParsedDocument:
    """Parse a document into pieces of at most `size` characters; raise DocumentError on failure.

    Only web pages may be HTML, whose markup would otherwise be lost.
    """
    extension = (
        HTML_EXTENSION if is_web_page and filename.endswith(HTML_EXTENSION) else find_extension(filename)
    )
    if extension is None:
        raise UnreadableDocument(
            f"This document type is not supported. Use {', '.join(MIME_TYPES_BY_EXTENSION)}."
        )
    await asyncio.to_thread(_check_file, path, extension)
    async with reader_place(requester):
        try:
            return await _read(path, extension, "", size, overlap)
        except _EncodingUnknown:
            return await _read(path, extension, "?", size, overlap)


def _check_file(path: Path, extension: str) -> None:
    """Reject a file early if it is too large or its first bytes show another type."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise DocumentTooLarge(f"The file is larger than {MAX_FILE_BYTES // 1024**2} MB.")
    detected = media_types.sniff_file(path)
    if detected is None:
        return
    if extension == ".pdf":
        is_expected_type = detected == media_types.PDF
    elif extension == ".docx":
        is_expected_type = detected in {DOCX, media_types.ZIP}
    else:
        is_expected_type = detected in _TEXT_TYPES or not _is_binary(path)
    if not is_expected_type:
        raise UnreadableDocument(f"The file is {detected}, although its extension is {extension}.")


def _is_binary(path: Path) -> bool:
    """Return whether a file that looks binary is so: a text may begin with the same letters."""
    with path.open("rb") as file:
        head = file.read(media_types.HEAD_BYTES)
    return head.startswith(b"%PDF-") or b"\0" in head


async def _read(path: Path, extension: str, guess_suffix: str, size: int, overlap: int) -> ParsedDocument:
    # Not in a thread: a cancelled one would leave the descriptor open.
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    child_arguments = (extension + guess_suffix, str(size), str(overlap))
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            subprocesses.python_subprocess(
                *reader_command(_PROGRAM, _libraries(), *child_arguments), stdin=source
            ) as parser,
        ):
            return await _read_reply(parser, MIME_TYPES_BY_EXTENSION.get(extension, media_types.HTML))
    except TimeoutError:
        raise DocumentTooLarge(_TOO_SLOW) from None
    finally:
        os.close(source)


def _libraries() -> str:
    return subprocesses.library_path(*_LIBRARIES)


async def _read_reply(child: Process, mime_type: str) -> ParsedDocument:
    assert child.stdout
    pieces: list[DocumentPiece] = []
    received = 0
    decoder = msgspec.json.Decoder(_ChildLine)
    try:
        while text := await child.stdout.readline():
            received += len(text)
            if received > _MAX_REPLY_BYTES or len(pieces) > _MAX_PIECES:
                raise UnreadableDocument(_BROKEN)
            line = decoder.decode(text)
            if line.error == "encoding_unknown":
                raise _EncodingUnknown
            if line.error:
                raise _error_from(line)
            if line.is_end:
                return ParsedDocument(mime_type, pieces, line.is_truncated, line.pages)
            pieces.append(_piece(line, len(pieces)))
    except (msgspec.MsgspecError, ValueError):
        raise UnreadableDocument(_BROKEN) from None
    raise _exit_error(await child.wait())


def _error_from(line: _ChildLine) -> DocumentError:
    if line.fault:
        log.error("document_parser_failed", fault=line.fault)
    return document_error(line.error, line.message)


def _piece(line: _ChildLine, position: int) -> DocumentPiece:
    # Databases reject NUL, so a compromised child must not get it past us.
    if "\0" in line.text or "\0" in (line.heading or ""):
        raise ValueError("a piece with a NUL")
    return DocumentPiece(line.text, line.page, line.heading, position)


def _exit_error(code: int) -> DocumentError:
    if code == _EXIT_NOT_STARTED:
        log.error("document_reader_not_started")
        return ParserUnavailable("The document parser does not start on this machine.")
    if code == -signal.SIGXCPU:
        return DocumentTooLarge(_TOO_SLOW)
    return UnreadableDocument(_BROKEN)
