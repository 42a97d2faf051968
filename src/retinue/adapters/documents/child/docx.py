"""Word documents: the XML of their text, headings and tables, without external references."""

import codecs
import posixpath
import zlib
from collections.abc import Iterator
from zipfile import BadZipFile

from . import xml_stream
from .archive import Archive
from .outline import Outline
from .sections import DocumentNotes, DocumentRefused, Section
from .word_body import WordBody
from .word_styles import BODY_LEVEL, WordStyles

_RELATIONSHIPS = "_rels/.rels"
_DEFAULT_MAIN_PART = "word/document.xml"


class _Relationships:
    """XML handler that finds the archive's main part in its relationships."""

    def __init__(self) -> None:
        self.main = ""

    def start(self, _name: str, attributes: dict[str, str]) -> None:
        is_main = attributes.get("Type", "").endswith("/relationships/officeDocument")
        if is_main and attributes.get("TargetMode", "Internal") == "Internal":
            self.main = posixpath.normpath(attributes.get("Target", "")).lstrip("/")

    def end(self, _name: str) -> None: ...

    def text(self, data: str) -> None: ...


def load() -> None:
    # Names in an archive may use this codec; after the lockdown it could not be loaded.
    codecs.lookup("cp437")


def read(content: bytes, _notes: DocumentNotes) -> Iterator[Section]:
    archive = Archive(content)
    try:
        yield from _sections(archive)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise DocumentRefused(
            "parse_error", "The document is damaged: part of it cannot be unpacked."
        ) from None


def _sections(archive: Archive) -> Iterator[Section]:
    main = _main_part(archive)
    folder = posixpath.dirname(main)
    styles = WordStyles()
    _parse_part(archive, posixpath.join(folder, "styles.xml"), styles)
    outline = Outline()
    for part in (main, *(posixpath.join(folder, name) for name in ("footnotes.xml", "endnotes.xml"))):
        if archive.has(part):
            yield from _blocks(archive, part, WordBody(styles), outline)
    yield from outline.end()


def _main_part(archive: Archive) -> str:
    relationships = _Relationships()
    _parse_part(archive, _RELATIONSHIPS, relationships)
    main = relationships.main or _DEFAULT_MAIN_PART
    if not archive.has(main):
        raise DocumentRefused("parse_error", "The file is an archive, but not a Word document.")
    return main


def _parse_part(archive: Archive, part: str, handler: xml_stream.XmlHandler) -> None:
    if archive.has(part):
        with archive.opened(part) as file:
            for _ in xml_stream.parse_xml(file, handler):
                pass


def _blocks(archive: Archive, part: str, body: WordBody, outline: Outline) -> Iterator[Section]:
    with archive.opened(part) as file:
        for _ in xml_stream.parse_xml(file, body):
            for block in body.take_blocks():
                if block.level < BODY_LEVEL:
                    yield from outline.enter(block.level, block.text)
                else:
                    yield from outline.add(block.text)
