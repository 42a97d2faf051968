"""A parsed document: pieces of text small enough to be embedded, with their origin."""

import msgspec


class DocumentPiece(msgspec.Struct, frozen=True):
    """A piece of text; `heading` is its path, such as "Handbook > Refunds", and `page` counts from one."""

    text: str
    page: int | None
    heading: str | None
    position: int

    @property
    def embedded(self) -> str:
        """Return the text to embed and search: the heading adds the context."""
        return f"{self.heading}\n\n{self.text}" if self.heading else self.text


class ParsedDocument(msgspec.Struct, frozen=True):
    """A parsed document; `truncated` means that text was left out, such as an overlong table cell."""

    mime_type: str
    pieces: list[DocumentPiece]
    truncated: bool
    pages: int | None
