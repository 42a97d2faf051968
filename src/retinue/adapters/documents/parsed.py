"""What comes of a document: pieces of text small enough to be embedded, with the place they are from."""

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """`heading` is the way down to the text, such as "Handbook > Refunds"; `page` counts from one."""

    text: str
    page: int | None
    heading: str | None
    position: int

    @property
    def embedded(self) -> str:
        """The text as it is embedded and searched: what stands above it says what it is about."""
        return f"{self.heading}\n\n{self.text}" if self.heading else self.text


class Parsed(msgspec.Struct, frozen=True):
    """`truncated`: some text was left out, for one a table cell longer than anyone reads."""

    mime_type: str
    pieces: list[Piece]
    truncated: bool
    pages: int | None
