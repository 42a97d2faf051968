"""Word documents: the XML of their text, headings and tables, and nothing they refer to."""

import codecs
import posixpath
import zlib
from collections.abc import Iterator
from zipfile import BadZipFile

from . import xml_stream
from .archive import Archive
from .outline import Outline
from .sections import Notes, Refusal, Section
from .word_body import Body
from .word_styles import BODY_LEVEL, Styles

_RELATIONSHIPS = "_rels/.rels"
_USUAL = "word/document.xml"


class _Relationships:
    """Listens to the archive's relationships for the one that names its main part."""

    def __init__(self) -> None:
        self.main = ""

    def start(self, _name: str, attributes: dict[str, str]) -> None:
        is_main = attributes.get("Type", "").endswith("/relationships/officeDocument")
        if is_main and attributes.get("TargetMode", "Internal") == "Internal":
            self.main = posixpath.normpath(attributes.get("Target", "")).lstrip("/")

    def end(self, _name: str) -> None: ...

    def text(self, data: str) -> None: ...


def load() -> None:
    # The names inside an archive may be in it, and after this there are no files to load it from.
    codecs.lookup("cp437")


def read(content: bytes, _notes: Notes) -> Iterator[Section]:
    archive = Archive(content)
    try:
        yield from _sections(archive)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise Refusal("parse_error", "The document is damaged: part of it cannot be unpacked.") from None


def _sections(archive: Archive) -> Iterator[Section]:
    main = _main_part(archive)
    folder = posixpath.dirname(main)
    styles = Styles()
    _heard(archive, posixpath.join(folder, "styles.xml"), styles)
    outline = Outline()
    for part in (main, *(posixpath.join(folder, name) for name in ("footnotes.xml", "endnotes.xml"))):
        if archive.has(part):
            yield from _blocks(archive, part, Body(styles), outline)
    yield from outline.end()


def _main_part(archive: Archive) -> str:
    relationships = _Relationships()
    _heard(archive, _RELATIONSHIPS, relationships)
    main = relationships.main or _USUAL
    if not archive.has(main):
        raise Refusal("parse_error", "The file is an archive, but not a Word document.")
    return main


def _heard(archive: Archive, part: str, listener: xml_stream.Listener) -> None:
    if archive.has(part):
        with archive.opened(part) as file:
            for _ in xml_stream.listen(file, listener):
                pass


def _blocks(archive: Archive, part: str, body: Body, outline: Outline) -> Iterator[Section]:
    with archive.opened(part) as file:
        for _ in xml_stream.listen(file, body):
            for block in body.taken():
                if block.level < BODY_LEVEL:
                    yield from outline.enter(block.level, block.text)
                else:
                    yield from outline.add(block.text)
