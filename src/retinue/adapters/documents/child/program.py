"""The child's program: load one parser, lock down, parse the file and write pieces as JSON lines."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.sandbox.guest import lockdown
from retinue.kit.json_types import JsonObject

from .chunking import Chunker
from .sections import DocumentNotes, DocumentRefused, EncodingUnknown, Section

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 30
MAX_PIECES = 40_000
MAX_TEXT_BYTES = 40 * 1024 * 1024
MAX_FILE_BYTES = 32 * 1024 * 1024

_BLOCK_BYTES = 1 << 20

ParseFunction = Callable[[bytes, DocumentNotes], Iterator[Section]]


def main(parent: str, extension: str, size: str, overlap: str) -> None:
    lockdown.yield_to_server()
    read = _parser(extension, int(size))
    chunker = Chunker(int(size), 0 if extension.startswith(".csv") else int(overlap))
    try:
        lockdown.lock_down(int(parent), memory_bytes=MEMORY_BYTES, cpu_seconds=CPU_SECONDS)
    except OSError as error:
        _write_line(
            {
                "error": "sandbox_unavailable",
                "message": f"Documents cannot be parsed safely on this machine: {error}.",
            }
        )
    else:
        _parse_input(read, chunker)


def _parser(extension: str, size: int) -> ParseFunction:
    """Return the parser for an extension; a question mark after it enables guessing of the encoding."""
    if extension == ".pdf":
        from . import pdf

        pdf.load()
        return pdf.read
    if extension == ".docx":
        from . import docx

        docx.load()
        return docx.read
    return _text_parser(extension.removesuffix("?"), size, is_guessing=extension.endswith("?"))


def _text_parser(extension: str, size: int, *, is_guessing: bool) -> ParseFunction:
    from . import text_encoding

    text_encoding.load(is_guessing=is_guessing)

    def open_text(content: bytes) -> Any:
        # Cells keep their line ends; the CSV reader splits rows itself.
        return text_encoding.open_text(
            content, is_guessing=is_guessing, newline="" if extension == ".csv" else None
        )

    if extension == ".csv":
        from . import table

        return lambda content, notes: table.read(open_text(content), notes, size)
    if extension == ".html":
        from . import html

        return lambda content, notes: html.read(open_text(content), notes)
    if extension == ".txt":
        from . import text

        return lambda content, notes: text.read(open_text(content), notes)
    from . import markdown

    return lambda content, notes: markdown.read(open_text(content), notes)


def _parse_input(read: ParseFunction, chunker: Chunker) -> None:
    notes = DocumentNotes()
    try:
        _write_pieces(read(_read_input(), notes), chunker)
    except DocumentRefused as refusal:
        _write_line({"error": refusal.code, "message": str(refusal)})
    except EncodingUnknown:
        _write_line({"error": "encoding_unknown"})
    except MemoryError:
        _write_line({"error": "too_large", "message": "The document needs too much memory."})
    except Exception as error:  # noqa: BLE001 - an unexpected failure of a parser
        _write_line({"error": "parse_error", "fault": _describe_fault(error)})
    else:
        _write_line({"is_end": True, "is_truncated": notes.is_truncated, "pages": notes.pages})


def _describe_fault(error: Exception) -> str:
    """Return the error's type and place; its message may contain parts of the document."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    code = frame.tb_frame.f_code if frame else None
    return (
        f"{type(error).__name__} in {code.co_name}, line {frame.tb_lineno}" if code and frame else "unknown"
    )


def _read_input() -> bytes:
    content = bytearray()
    while block := os.read(0, _BLOCK_BYTES):
        content += block
        if len(content) > MAX_FILE_BYTES:
            raise DocumentRefused("too_large", "")
    return bytes(content)


def _write_pieces(sections: Iterator[Section], chunker: Chunker) -> None:
    chunk_count = written_bytes = 0
    for section in sections:
        for chunk in chunker.chunks(section):
            chunk_count += 1
            if chunk_count > MAX_PIECES:
                raise DocumentRefused(
                    "too_large", f"The document has more than {MAX_PIECES:,} passages. Split it."
                )
            written_bytes += _write_line({"text": chunk.text, "page": chunk.page, "heading": chunk.heading})
            if written_bytes > MAX_TEXT_BYTES:
                raise DocumentRefused("too_large", "The document has too much text. Split it.")
    if not chunk_count:
        raise DocumentRefused(
            "empty_document", "The document contains no text. Run OCR on a scanned document first."
        )


def _write_line(line: JsonObject) -> int:
    return sys.stdout.buffer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
