"""Content encodings undone piece by piece, so that a small body can never become a large one unseen."""

import zlib
from collections.abc import Iterator
from typing import Protocol

from retinue.kit.egress.errors import EgressFailed, ResponseTooLarge

ACCEPTED = "gzip, deflate"

_PIECE = 64 * 1024
_GZIP_MAGIC = 0x1F
# To begin a member costs as much as thousands of bytes, also one that holds nothing.
_MOST_MEMBERS = 1000


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded form of some received bytes, in pieces of bounded size."""
        ...

    def finish(self) -> None:
        """Refuse a body that ended before its encoding did."""
        ...


def decoder_for(content_encoding: str) -> Decoder | None:
    """None for a body that comes as it is."""
    encoding = content_encoding.strip().lower()
    if encoding in {"", "identity"}:
        return None
    if encoding in {"gzip", "x-gzip", "deflate"}:
        return _Inflate(is_gzip=encoding != "deflate")
    raise EgressFailed("The destination answered in an encoding that was not asked for.")


class _Inflate:
    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._members = 0
        self._stream: "zlib._Decompress | None" = None  # noqa: UP037 - exists in the type stubs only

    def feed(self, data: bytes) -> Iterator[bytes]:
        pending = data
        while pending:
            if self._stream is None:
                self._stream = self._start(pending[0])
            elif self._stream.eof:
                if not self._is_gzip or pending[0] != _GZIP_MAGIC:
                    return
                self._stream = self._start(pending[0])
            yield from self._inflate(self._stream, pending)
            pending = self._stream.unused_data

    def finish(self) -> None:
        if self._stream is not None and not self._stream.eof:
            raise EgressFailed("The destination's answer is cut off.")

    def _start(self, first_byte: int) -> "zlib._Decompress":
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise ResponseTooLarge
        if self._is_gzip:
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        # Some servers send bare deflate data where the standard asks for the zlib form.
        has_zlib_header = first_byte & 0x0F == zlib.DEFLATED
        return zlib.decompressobj(zlib.MAX_WBITS if has_zlib_header else -zlib.MAX_WBITS)

    @staticmethod
    def _inflate(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
        pending = data
        while True:
            try:
                piece = stream.decompress(pending, _PIECE)
            except zlib.error:
                raise EgressFailed("The destination's answer is not validly compressed.") from None
            if piece:
                yield piece
            pending = stream.unconsumed_tail
            # A full piece may have left output behind although all input was taken.
            if stream.eof or (not pending and len(piece) < _PIECE):
                return
