"""Documents of strangers, read and cut into pieces in a process that has nothing to lose."""

from retinue.adapters.documents.errors import (
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    ParserUnavailable,
    UnreadableDocument,
)
from retinue.adapters.documents.kinds import KINDS, extension
from retinue.adapters.documents.parsed import Parsed, Piece
from retinue.adapters.documents.parsing import LARGEST_FILE, parse

__all__ = [
    "KINDS",
    "LARGEST_FILE",
    "DocumentError",
    "DocumentTooLarge",
    "EmptyDocument",
    "Parsed",
    "ParserUnavailable",
    "Piece",
    "UnreadableDocument",
    "extension",
    "parse",
]
