"""Checks of a workbook's archive before anything is unpacked."""

import io
import zipfile

from .errors import SheetRefused

_MAX_ENTRIES = 2000
_MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
_MAX_RATIO = 200
# Smaller entries are harmless at any ratio, and a repetitive sheet may well have a high one.
_HARMLESS_BYTES = 4 * 1024 * 1024
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORKBOOK_PATH = "xl/workbook.xml"
PASSWORD = "The workbook is password-protected. Send it without a password."  # noqa: S105 - a sentence
DAMAGED = "The file is not an Excel workbook, or it is damaged."


def check(content: bytes) -> None:
    """Reject what is not a workbook, is encrypted, or unpacks to too much data."""
    if content.startswith(_OLD_OFFICE):
        raise SheetRefused("parse_error", f"{PASSWORD} An old .xls must be saved as .xlsx.")
    try:
        entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, OSError):
        raise SheetRefused("parse_error", DAMAGED) from None
    if len(entries) > _MAX_ENTRIES:
        raise SheetRefused("too_large", f"The workbook consists of more than {_MAX_ENTRIES:,} files.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > _MAX_UNPACKED_BYTES or any(_is_bomb(entry) for entry in entries):
        raise SheetRefused("too_large", "The workbook unpacks to far more data than is allowed.")
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise SheetRefused("parse_error", PASSWORD)
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise SheetRefused("parse_error", "The workbook uses a compression method that Excel does not use.")
    if not any(entry.filename.lower() == _WORKBOOK_PATH for entry in entries):
        raise SheetRefused("parse_error", DAMAGED)


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    return entry.file_size > max(_HARMLESS_BYTES, _MAX_RATIO * entry.compress_size)
