"""Incremental content decoding, so that the size limit stops a decompression bomb."""

import zlib
from collections.abc import Iterator
from typing import Protocol

from retinue.kit.egress.errors import EgressFailed, ResponseTooLarge

ACCEPT_ENCODING = "gzip, deflate"

_CHUNK_BYTES = 64 * 1024
_GZIP_MAGIC = 0x1F
# Starting a member, even an empty one, costs as much as decoding thousands of bytes.
_MAX_GZIP_MEMBERS = 1000


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode received bytes, in pieces of bounded size."""
        ...

    def finish(self) -> None:
        """Raise `EgressFailed` if the encoded data is incomplete."""
        ...


def decoder_for(content_encoding: str) -> Decoder | None:
    """Return the decoder for an encoding; None for an unencoded body."""
    encoding = content_encoding.strip().lower()
    if encoding in {"", "identity"}:
        return None
    if encoding in {"gzip", "x-gzip", "deflate"}:
        return _Inflate(is_gzip=encoding != "deflate")
    raise EgressFailed("The destination's response uses an encoding that was not requested.")


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
            raise EgressFailed("The destination's response is incomplete.")

    def _start(self, first_byte: int) -> "zlib._Decompress":
        self._members += 1
        if self._members > _MAX_GZIP_MEMBERS:
            raise ResponseTooLarge
        if self._is_gzip:
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        # Some servers send raw deflate data although the standard requires the zlib format.
        has_zlib_header = first_byte & 0x0F == zlib.DEFLATED
        return zlib.decompressobj(zlib.MAX_WBITS if has_zlib_header else -zlib.MAX_WBITS)

    @staticmethod
    def _inflate(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
        pending = data
        while True:
            try:
                piece = stream.decompress(pending, _CHUNK_BYTES)
            except zlib.error:
                raise EgressFailed("The destination's response has invalid compression.") from None
            if piece:
                yield piece
            pending = stream.unconsumed_tail
            # After a full piece, output may remain although all input was consumed.
            if stream.eof or (not pending and len(piece) < _CHUNK_BYTES):
                return
