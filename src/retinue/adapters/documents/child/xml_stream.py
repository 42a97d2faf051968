"""XML events without document types: no entity is expanded and nothing is fetched."""

from collections.abc import Iterator
from io import BufferedIOBase
from typing import Protocol
from xml.parsers import expat

from .sections import DocumentRefused

_BLOCK_BYTES = 64 * 1024


class XmlHandler(Protocol):
    """Receives XML events; names are "namespace local", or the local name without a namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def parse_xml(file: BufferedIOBase, handler: XmlHandler) -> Iterator[None]:
    """Send the file's events to the handler, and pause after each block."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    try:
        while block := file.read(_BLOCK_BYTES):
            parser.Parse(block, False)
            yield
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError):
        raise DocumentRefused("parse_error", "The document is damaged: its XML is not well-formed.") from None
    yield


def _refuse_doctype(*_declared: object) -> None:
    raise DocumentRefused(
        "parse_error", "The document declares XML entities, which are not allowed in Word documents."
    )
