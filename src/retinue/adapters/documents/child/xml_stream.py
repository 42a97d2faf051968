"""XML as events, without document types, so that there are no entities to expand and nothing to fetch."""

from collections.abc import Iterator
from io import BufferedIOBase
from typing import Protocol
from xml.parsers import expat

from .sections import Refusal

_BLOCK = 64 * 1024


class Listener(Protocol):
    """Names are "namespace local", or the local name alone where there is no namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def listen(file: BufferedIOBase, listener: Listener) -> Iterator[None]:
    """Tells the listener what is in the file, and pauses after each block of it."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = listener.start
    parser.EndElementHandler = listener.end
    parser.CharacterDataHandler = listener.text
    try:
        while block := file.read(_BLOCK):
            parser.Parse(block, False)
            yield
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError):
        raise Refusal("parse_error", "The document is damaged: its XML is not well-formed.") from None
    yield


def _refuse(*_declared: object) -> None:
    raise Refusal("parse_error", "The document declares XML entities, which no Word document does.")
