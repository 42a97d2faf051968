"""Zip archives, measured before anything is unpacked."""

import io
import zipfile

from .sections import Refusal

_MOST_ENTRIES = 2000
_LARGEST_UNPACKED = 200 * 1024 * 1024
_HIGHEST_RATIO = 200
# Below this no ratio is dangerous, and a small text that repeats itself may well have one.
_HARMLESS = 1024 * 1024
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1


class Archive:
    def __init__(self, content: bytes) -> None:
        if content.startswith(_OLD_OFFICE):
            raise Refusal(
                "parse_error", "The file is protected by a password, or an old .doc; save it as .docx."
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise Refusal("parse_error", "The file is not a Word document, or it is damaged.") from None
        entries = self._zip.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise Refusal("too_large", f"The document consists of more than {_MOST_ENTRIES:,} files.")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > _LARGEST_UNPACKED or any(_is_bomb(entry) for entry in entries):
            raise Refusal("too_large", "The document unpacks to far more than its size allows.")
        self._entries = {entry.filename: entry for entry in entries}

    def has(self, name: str) -> bool:
        return name in self._entries

    def opened(self, name: str) -> "zipfile.ZipExtFile":
        """One file to read from; it never gives more than the archive said it would."""
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise Refusal("parse_error", "The document is protected by a password; send it without one.")
        if entry.compress_type not in _METHODS:
            raise Refusal("parse_error", "The document is packed in a way Word does not use.")
        opened = self._zip.open(entry)
        assert isinstance(opened, zipfile.ZipExtFile)
        return opened


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    return entry.file_size > max(_HARMLESS, _HIGHEST_RATIO * entry.compress_size)
