"""Standard input as text: Unicode if its beginning is valid, else the encoding of Western spreadsheets."""

import codecs
import io
import os

_SAMPLE_BYTES = 256 * 1024
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def load() -> None:
    """Load the codecs before the lockdown."""
    for name in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp437"):
        codecs.lookup(name)


def open_text(*, may_guess: bool) -> io.TextIOWrapper:
    """Open standard input as text with its line ends unchanged."""
    head = os.read(0, _SAMPLE_BYTES)
    os.lseek(0, 0, os.SEEK_SET)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")
    errors = "strict"
    if encoding == "utf-8" and may_guess:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            encoding, errors = "cp1252", "replace"
    return io.TextIOWrapper(os.fdopen(0, "rb", closefd=False), encoding, errors, newline="")
