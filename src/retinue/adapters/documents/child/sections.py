"""The output of a parser."""

from typing import NamedTuple


class Section(NamedTuple):
    """Text under one heading or of one page; the chunker decides where to cut it."""

    text: str
    page: int | None = None
    heading: str | None = None


class DocumentNotes:
    """Facts about the document as a whole."""

    def __init__(self) -> None:
        self.is_truncated = False
        self.pages: int | None = None


class DocumentRefused(Exception):
    """The document is rejected; the code is one of `errors.py`, the message is for the sender."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EncodingUnknown(Exception):
    """The text is not Unicode, and the library that guesses encodings was not loaded."""
