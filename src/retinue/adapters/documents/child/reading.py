"""The program of the child: load one parser, give up everything, read the file, answer line by line."""

import contextlib
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.sandbox.guest import confine, filters

from .chunking import Chunker
from .sections import EncodingUnknown, Notes, Refusal, Section

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 30
MOST_PIECES = 40_000
MOST_TEXT_BYTES = 40 * 1024 * 1024
LARGEST_FILE = 32 * 1024 * 1024

_NOBODY = 65534
_PIECE = 1 << 20

Read = Callable[[bytes, Notes], Iterator[Section]]


def main(parent: str, ending: str, size: str, overlap: str) -> None:
    _stand_back()
    read = _parser(ending, int(size))
    chunker = Chunker(int(size), 0 if ending.startswith(".csv") else int(overlap))
    try:
        _give_up_everything(int(parent))
    except OSError as error:
        _say({"error": "sandbox_unavailable", "message": f"Documents cannot be read safely here: {error}."})
    else:
        _answer(read, chunker)


def _stand_back() -> None:
    """When processor or memory get scarce the server comes first."""
    os.setpriority(os.PRIO_PROCESS, 0, 5)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib is slow to load
        score.write("500")


def _parser(ending: str, size: int) -> Read:
    """The parser for this ending; with a question mark behind it the encoding of a text is guessed."""
    if ending == ".pdf":
        from . import pdf

        pdf.load()
        return pdf.read
    if ending == ".docx":
        from . import docx

        docx.load()
        return docx.read
    return _text_parser(ending.removesuffix("?"), size, is_guessing=ending.endswith("?"))


def _text_parser(ending: str, size: int, *, is_guessing: bool) -> Read:
    from . import encodings_of_text

    encodings_of_text.load(is_guessing=is_guessing)

    def opened(content: bytes) -> Any:
        # A cell keeps its line ends, for the table itself ends where a line does.
        return encodings_of_text.opened(
            content, is_guessing=is_guessing, newline="" if ending == ".csv" else None
        )

    if ending == ".csv":
        from . import table

        return lambda content, notes: table.read(opened(content), notes, size)
    if ending == ".txt":
        from . import text

        return lambda content, notes: text.read(opened(content), notes)
    from . import markdown

    return lambda content, notes: markdown.read(opened(content), notes)


def _give_up_everything(parent: int) -> None:
    """Root, files, addresses, processes and nearly every system call; OSError where the kernel cannot."""
    if os.geteuid() == 0:
        confine.become(_NOBODY)
    confine.drop_capabilities()
    confine.hide()
    # Only now, for a process that changes its user forgets that it wanted to.
    confine.die_with(parent)
    confine.limit(core=0, fsize=0, nproc=0, nofile=16, **{"as": MEMORY_BYTES})
    confine.limit(cpu=CPU_SECONDS + 1)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    # The signal of the soft limit says what happened; the one of the hard limit could be anyone's.
    resource.setrlimit(resource.RLIMIT_CPU, (min(CPU_SECONDS, hard), hard))
    confine.gain_nothing()
    if not confine.landlock():
        raise OSError("this kernel has no Landlock")
    confine.filter_calls(filters.for_computing())


def _answer(read: Read, chunker: Chunker) -> None:
    notes = Notes()
    try:
        _write_pieces(read(_content(), notes), chunker)
    except Refusal as refusal:
        _say({"error": refusal.code, "message": str(refusal)})
    except EncodingUnknown:
        _say({"error": "encoding_unknown"})
    except MemoryError:
        _say({"error": "too_large", "message": "The document needs more memory to be read than allowed."})
    except Exception as error:  # noqa: BLE001 - a parser of ours met something nobody thought of
        _say({"error": "parse_error", "fault": _fault(error)})
    else:
        _say({"is_end": True, "is_truncated": notes.is_truncated, "pages": notes.pages})


def _fault(error: Exception) -> str:
    """What went wrong and where; the error's own text may hold some of the document."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    code = place.tb_frame.f_code if place else None
    return (
        f"{type(error).__name__} in {code.co_name}, line {place.tb_lineno}" if code and place else "unknown"
    )


def _content() -> bytes:
    content = bytearray()
    while block := os.read(0, _PIECE):
        content += block
        if len(content) > LARGEST_FILE:
            raise Refusal("too_large", "")
    return bytes(content)


def _write_pieces(sections: Iterator[Section], chunker: Chunker) -> None:
    found = written = 0
    for section in sections:
        for chunk in chunker.chunks(section):
            found += 1
            if found > MOST_PIECES:
                raise Refusal(
                    "too_large", f"The document has more than {MOST_PIECES:,} passages of text; split it."
                )
            written += _say({"text": chunk.text, "page": chunk.page, "heading": chunk.heading})
            if written > MOST_TEXT_BYTES:
                raise Refusal("too_large", "The document has more text than one document may; split it.")
    if not found:
        raise Refusal(
            "empty_document", "There is no text in this document; a scan has to be recognised (OCR) first."
        )


def _say(line: dict[str, Any]) -> int:
    return sys.stdout.buffer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
