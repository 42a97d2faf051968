"""The server's end: one child process for each document, bounded in time, memory and what it may answer."""

import asyncio
import functools
import importlib.util
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
    refusal,
)
from retinue.adapters.documents.kinds import DOCX, KINDS, extension
from retinue.adapters.documents.parsed import Parsed, Piece
from retinue.kit import children
from retinue.kit.http import sniffing

log = structlog.get_logger("documents")

LARGEST_FILE = 32 * 1024 * 1024
# Four times the processor time a child has, for a machine with much else to do.
WALL_SECONDS = 120.0
PIECE_SIZE, PIECE_OVERLAP = 1200, 150

# A little more than what the child allows itself: only one that was taken over gets here.
_LARGEST_ANSWER = 48 * 1024 * 1024
_MOST_PIECES = 40_000
_START = Path(__file__).parent / "child" / "start.py"
_SOURCE = Path(__file__).parents[3]
_LIBRARIES = ("pypdfium2_raw", "semantic_text_splitter", "charset_normalizer")
# Each child may take 512 MB; more documents than this at once wait for their turn.
_children = asyncio.Semaphore(2)

_TEXTS = {sniffing.HTML, sniffing.SVG, sniffing.XML, sniffing.PHP, sniffing.SCRIPT}
# An error before the child answers any: one of its libraries is missing, for example.
_NOT_STARTED = 1
_TOO_SLOW = "The document takes longer to read than allowed."
_BROKEN = "The document could not be read: it is damaged, or needs more memory than allowed."


class _Line(msgspec.Struct):
    """What the child says: a piece, or how it ended."""

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
    """The text is not Unicode; what guesses its encoding is slow to load, so the first child has not."""


async def parse(path: Path, *, filename: str, size: int = PIECE_SIZE, overlap: int = PIECE_OVERLAP) -> Parsed:
    """The text of a document in pieces of at most `size` characters, or a DocumentError."""
    ending = extension(filename)
    if ending is None:
        raise UnreadableDocument(f"Documents of this type are not read; known are {', '.join(KINDS)}.")
    await asyncio.to_thread(_look_at, path, ending)
    async with _children:
        try:
            return await _read(path, ending, "", size, overlap)
        except _EncodingUnknown:
            return await _read(path, ending, "?", size, overlap)


def _look_at(path: Path, ending: str) -> None:
    """Refuse what is not worth a process: a file that is too large, or by its first bytes another kind."""
    if path.stat().st_size > LARGEST_FILE:
        raise DocumentTooLarge(f"The file is larger than {LARGEST_FILE // 1024**2} MB.")
    found = sniffing.sniff_file(path)
    if found is None:
        return
    if ending == ".pdf":
        is_right = found == sniffing.PDF
    elif ending == ".docx":
        is_right = found in {DOCX, sniffing.ZIP}
    else:
        is_right = found in _TEXTS or not _is_binary(path)
    if not is_right:
        raise UnreadableDocument(f"The file is {found}, although its name ends in {ending}.")


def _is_binary(path: Path) -> bool:
    """Whether what looks like a picture or a program is one: a text may begin with the same letters."""
    with path.open("rb") as file:
        head = file.read(sniffing.HEAD_BYTES)
    return head.startswith(b"%PDF-") or b"\0" in head


async def _read(path: Path, ending: str, guessing: str, size: int, overlap: int) -> Parsed:
    # Not in a thread: one that is cancelled would leave the descriptor open.
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    folders = (str(_SOURCE), _libraries(), str(os.getpid()))
    task = (ending + guessing, str(size), str(overlap))
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            children.child("-S", str(_START), *folders, *task, stdin=source) as parser,
        ):
            return await _answer(parser, KINDS[ending])
    except TimeoutError:
        raise DocumentTooLarge(_TOO_SLOW) from None
    finally:
        os.close(source)


@functools.cache
def _libraries() -> str:
    """The folders the parsers are installed in; the child looks nowhere else."""
    found = [importlib.util.find_spec(name) for name in _LIBRARIES]
    return os.pathsep.join(
        sorted({str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin})
    )


async def _answer(child: Process, mime_type: str) -> Parsed:
    assert child.stdout
    pieces: list[Piece] = []
    received = 0
    decoder = msgspec.json.Decoder(_Line)
    try:
        while text := await child.stdout.readline():
            received += len(text)
            if received > _LARGEST_ANSWER or len(pieces) > _MOST_PIECES:
                raise UnreadableDocument(_BROKEN)
            line = decoder.decode(text)
            if line.error == "encoding_unknown":
                raise _EncodingUnknown
            if line.error:
                raise _refused(line)
            if line.is_end:
                return Parsed(mime_type, pieces, line.is_truncated, line.pages)
            pieces.append(_piece(line, len(pieces)))
    except (msgspec.MsgspecError, ValueError):
        raise UnreadableDocument(_BROKEN) from None
    raise _ended(await child.wait())


def _refused(line: _Line) -> DocumentError:
    if line.fault:
        log.error("a document parser failed", fault=line.fault)
    return refusal(line.error, line.message)


def _piece(line: _Line, position: int) -> Piece:
    # Databases refuse it, so a child that was taken over must not get it past us.
    if "\0" in line.text or "\0" in (line.heading or ""):
        raise ValueError("a piece with a NUL")
    return Piece(line.text, line.page, line.heading, position)


def _ended(code: int) -> DocumentError:
    if code == _NOT_STARTED:
        log.error("the process that reads documents does not start")
        return ParserUnavailable("The process that reads documents does not start on this machine.")
    if code == -signal.SIGXCPU:
        return DocumentTooLarge(_TOO_SLOW)
    return UnreadableDocument(_BROKEN)
