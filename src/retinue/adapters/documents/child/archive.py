"""Zip archives, checked before anything is unpacked."""

import io
import zipfile

from .sections import DocumentRefused

_MAX_ENTRIES = 2000
_MAX_UNPACKED_BYTES = 200 * 1024 * 1024
_MAX_COMPRESSION_RATIO = 200
# Smaller entries are harmless at any ratio, and a small repetitive text may well have a high one.
_HARMLESS_BYTES = 1024 * 1024
_COMPRESSION_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1


class Archive:
    def __init__(self, content: bytes) -> None:
        if content.startswith(_OLD_OFFICE):
            raise DocumentRefused(
                "parse_error",
                "The file is password-protected or an old .doc. Save it as .docx without a password.",
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise DocumentRefused(
                "parse_error", "The file is not a Word document, or it is damaged."
            ) from None
        entries = self._zip.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise DocumentRefused("too_large", f"The document consists of more than {_MAX_ENTRIES:,} files.")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > _MAX_UNPACKED_BYTES or any(_is_bomb(entry) for entry in entries):
            raise DocumentRefused("too_large", "The document unpacks to far more data than is allowed.")
        self._entries = {entry.filename: entry for entry in entries}

    def has(self, name: str) -> bool:
        return name in self._entries

    def opened(self, name: str) -> "zipfile.ZipExtFile":
        """Open one file, which never yields more than its declared size."""
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise DocumentRefused(
                "parse_error", "The document is password-protected. Send it without a password."
            )
        if entry.compress_type not in _COMPRESSION_METHODS:
            raise DocumentRefused(
                "parse_error", "The document uses a compression method that Word does not use."
            )
        file = self._zip.open(entry)
        assert isinstance(file, zipfile.ZipExtFile)
        return file


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    return entry.file_size > max(_HARMLESS_BYTES, _MAX_COMPRESSION_RATIO * entry.compress_size)
