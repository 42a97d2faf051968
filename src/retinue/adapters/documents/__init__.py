"""Untrusted documents, parsed and cut into pieces in a locked-down process."""

from retinue.adapters.documents.errors import (
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    ParserUnavailable,
    UnreadableDocument,
)
from retinue.adapters.documents.file_types import MIME_TYPES_BY_EXTENSION, find_extension
from retinue.adapters.documents.parsed_document import DocumentPiece, ParsedDocument
from retinue.adapters.documents.parser import MAX_FILE_BYTES, parse

__all__ = [
    "MAX_FILE_BYTES",
    "MIME_TYPES_BY_EXTENSION",
    "DocumentError",
    "DocumentPiece",
    "DocumentTooLarge",
    "EmptyDocument",
    "ParsedDocument",
    "ParserUnavailable",
    "UnreadableDocument",
    "find_extension",
    "parse",
]
