"""XML as events, without document types, so that there are no entities to expand and nothing to fetch."""

from collections.abc import Iterator
from typing import IO
from xml.parsers import expat

from .refusals import Refusal

_BLOCK = 64 * 1024
_DEEPEST = 100


class Listener:
    """Names come without their namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def events(file: IO[bytes], listener: Listener) -> Iterator[None]:
    """Tells the listener what is in the file, and pauses after each block of it."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise Refusal("parse_error", "The workbook's XML is nested too deeply.")
        listener.start(name.rpartition(" ")[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        listener.end(name.rpartition(" ")[2])

    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = listener.text
    try:
        while block := file.read(_BLOCK):
            parser.Parse(block, False)
            yield
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError):
        raise Refusal("parse_error", "The workbook is damaged: its XML is not well-formed.") from None
    yield


def _refuse(*_declared: object) -> None:
    raise Refusal("parse_error", "The workbook declares XML entities, which no workbook does.")
