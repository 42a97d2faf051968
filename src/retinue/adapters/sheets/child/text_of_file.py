"""A file as text: Unicode if its first part can be, else what Western spreadsheets write."""

import codecs
import io
import os

_SAMPLE = 256 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def load() -> None:
    """Before the process gives up files."""
    for name in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp437"):
        codecs.lookup(name)


def opened(*, may_guess: bool) -> io.TextIOWrapper:
    """Standard input as text whose line ends are as they are."""
    head = os.read(0, _SAMPLE)
    os.lseek(0, 0, os.SEEK_SET)
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    errors = "strict"
    if encoding == "utf-8" and may_guess:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            encoding, errors = "cp1252", "replace"
    return io.TextIOWrapper(os.fdopen(0, "rb", closefd=False), encoding, errors, newline="")
