"""What a parser makes of a file."""

from typing import NamedTuple


class Section(NamedTuple):
    """Text under one heading or of one page; the chunker decides where to cut it."""

    text: str
    page: int | None = None
    heading: str | None = None


class Notes:
    """What is to be told about the document as a whole."""

    def __init__(self) -> None:
        self.is_truncated = False
        self.pages: int | None = None


class Refusal(Exception):
    """The document is not read; the code is one of `errors.py`, the message is for who sent it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EncodingUnknown(Exception):
    """The text is not Unicode, and the library that guesses was not loaded."""
