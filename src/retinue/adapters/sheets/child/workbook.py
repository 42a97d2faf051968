"""What a sheet needs of its workbook: where it is, its strings, and which styles are dates."""

import os
import re
import zipfile
from typing import IO

from .refusals import Refusal
from .xml_events import Listener, events

_MOST_ENTRIES = 2000
_LARGEST_UNPACKED = 1024 * 1024 * 1024
_HIGHEST_RATIO = 200
# Below this no ratio is dangerous, and a sheet that repeats itself may well have one.
_HARMLESS = 4 * 1024 * 1024
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_MOST_STRINGS = 5_000_000
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_NOT_DATE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|General', re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)


class Workbook:
    def __init__(self) -> None:
        self._zip = zipfile.ZipFile(os.fdopen(0, "rb", closefd=False))
        self._entries = {entry.filename: entry for entry in _measured(self._zip)}
        book = _Book()
        self._listen("xl/workbook.xml", book)
        if not book.sheet_id:
            raise Refusal("parse_error", "The workbook has no sheet.")
        links = _Links()
        self._listen("xl/_rels/workbook.xml.rels", links)
        target = links.targets.get(book.sheet_id, "worksheets/sheet1.xml")
        self._sheet = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        self.is_1904 = book.is_1904
        self._strings = _Strings()
        self._listen("xl/sharedStrings.xml", self._strings, may_miss=True)
        self._styles = _Styles()
        self._listen("xl/styles.xml", self._styles, may_miss=True)

    def sheet(self) -> IO[bytes]:
        return self._opened(self._sheet)

    def string(self, number: int) -> str | None:
        return self._strings.found[number] if 0 <= number < len(self._strings.found) else None

    def is_date(self, style: int) -> bool:
        return style in self._styles.dates

    def _opened(self, name: str) -> IO[bytes]:
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise Refusal("parse_error", "The workbook is protected by a password; send it without one.")
        if entry.compress_type not in _METHODS:
            raise Refusal("parse_error", "The workbook is packed in a way Excel does not use.")
        return self._zip.open(entry)

    def _listen(self, name: str, listener: Listener, *, may_miss: bool = False) -> None:
        if may_miss and name not in self._entries:
            return
        with self._opened(name) as file:
            for _ in events(file, listener):
                pass


def _measured(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise Refusal("too_large", f"The workbook consists of more than {_MOST_ENTRIES:,} files.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > _LARGEST_UNPACKED or any(_is_bomb(entry) for entry in entries):
        raise Refusal("too_large", "The workbook unpacks to far more than its size allows.")
    return entries


def _is_bomb(entry: zipfile.ZipInfo) -> bool:
    return entry.file_size > max(_HARMLESS, _HIGHEST_RATIO * entry.compress_size)


class _Book(Listener):
    def __init__(self) -> None:
        self.sheet_id = ""
        self.is_1904 = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sheet" and not self.sheet_id:
            ids = [value for key, value in attributes.items() if key.rpartition(" ")[2] == "id"]
            self.sheet_id = ids[0] if ids else "?"
        elif name == "workbookPr":
            self.is_1904 = attributes.get("date1904") in {"1", "true"}


class _Links(Listener):
    def __init__(self) -> None:
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")


class _Strings(Listener):
    """Texts that cells share; how they are to be pronounced is left out."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._is_reading = False
        self._is_phonetic = False

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - a listener
        if name == "si":
            self._parts = []
            if len(self.found) >= _MOST_STRINGS:
                raise Refusal("too_large", f"The workbook has more than {_MOST_STRINGS:,} texts.")
        elif name == "rPh":
            self._is_phonetic = True
        elif name == "t":
            self._is_reading = not self._is_phonetic

    def end(self, name: str) -> None:
        if name == "si":
            self.found.append("".join(self._parts))
        elif name == "rPh":
            self._is_phonetic = False
        elif name == "t":
            self._is_reading = False

    def text(self, data: str) -> None:
        if self._is_reading:
            self._parts.append(data)


class _Styles(Listener):
    """The numbers of the styles that show a number as a date."""

    def __init__(self) -> None:
        self.dates: set[int] = set()
        self._formats = set(_DATE_FORMATS)
        self._is_inside = False
        self._number = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            code = _NOT_DATE.sub("", attributes.get("formatCode", "")[:500])
            if _DATE_LETTERS.search(code) and attributes.get("numFmtId", "").isdecimal():
                self._formats.add(int(attributes["numFmtId"][:9]))
        elif name == "cellXfs":
            self._is_inside = True
        elif name == "xf" and self._is_inside:
            given = attributes.get("numFmtId", "0")
            if given.isdecimal() and int(given[:9]) in self._formats:
                self.dates.add(self._number)
            self._number += 1

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._is_inside = False
