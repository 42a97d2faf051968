"""Parsing of storage responses in XML: named texts, and lists of records of such texts."""

from collections.abc import Collection
from xml.parsers import expat

import msgspec

from retinue.adapters.blobs.store import StorageUnavailable


class InvalidStorageResponse(StorageUnavailable):
    """The file storage returned an unexpected response. Try again later."""


class S3Document(msgspec.Struct):
    """A parsed response: `fields` are the texts below the root, `records` the elements with several texts."""

    root: str = ""
    fields: dict[str, str] = {}
    records: list[tuple[str, dict[str, str]]] = []

    def records_named(self, kind: str) -> list[dict[str, str]]:
        return [record for name, record in self.records if name == kind]


class _XmlReader:
    def __init__(self) -> None:
        self.document = S3Document(fields={}, records=[])
        self._path: list[str] = []
        self._text = ""
        self._record: dict[str, str] = {}

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        if not self._path:
            self.document.root = name
        elif len(self._path) == 1:
            self._record = {}
        self._path.append(name)
        self._text = ""

    def text(self, data: str) -> None:
        self._text += data

    def end(self, name: str) -> None:
        self._path.pop()
        if len(self._path) == 2:
            self._record[name] = self._text.strip()
        elif len(self._path) == 1 and self._record:
            self.document.records.append((name, self._record))
        elif len(self._path) == 1:
            self.document.fields[name] = self._text.strip()
        self._text = ""


class _TextFinder(_XmlReader):
    """Keeps the texts of the elements with these names, at any depth."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names
        self.found: dict[str, str] = {}

    def end(self, name: str) -> None:
        if name in self._names:
            self.found[name] = self._text.strip()
        super().end(name)


def parse_s3_xml(content: bytes) -> S3Document:
    """Parse XML without document types: no entity is expanded and nothing is fetched."""
    reader = _XmlReader()
    _parse(content, reader)
    return reader.document


def find_texts(content: bytes, names: Collection[str]) -> dict[str, str]:
    """Return the texts of the elements with these names."""
    finder = _TextFinder(names)
    _parse(content, finder)
    return finder.found


def _parse(content: bytes, reader: _XmlReader) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: reader.start(name.rpartition(" ")[2], attributes)
    parser.EndElementHandler = lambda name: reader.end(name.rpartition(" ")[2])
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise InvalidStorageResponse from None


def error_code(content: bytes) -> str:
    """Return the code of an error response, or ""."""
    try:
        document = parse_s3_xml(content)
    except InvalidStorageResponse:
        return ""
    return document.fields.get("Code", "") if document.root == "Error" else ""


def _refuse_doctype(*_declared: object) -> None:
    raise InvalidStorageResponse
