"""A stream that a passphrase seals: scrypt, then AES-256-GCM in chunks of 1 MiB.

Each chunk is bound to the header, to its number and to whether it is the last one, so a stream that is cut,
reordered or put together from two others does not open.
"""

import hashlib
import secrets
import struct
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from retinue.kit.secrets import Secret

MAGIC = b"retinue-sealed-1\n"
CHUNK_BYTES = 1024 * 1024
_TAG_BYTES = 16
_SALT_BYTES = 16
_PARAMETERS = struct.Struct(">BBB")
_CHUNK_CONTEXT = struct.Struct(">Q?")
# 128 MiB of memory and about half a second: RFC 7914 with the cost that OWASP names for stored passwords.
_LOG2_COST, _BLOCK_SIZE, _LANES = 17, 8, 1
# A file may be a stranger's: it must not choose how much memory reading it takes.
_MAX_LOG2_COST, _MAX_BLOCK_SIZE, _MAX_LANES = 20, 16, 4


class SealBroken(Exception):
    """The passphrase is wrong, or the sealed stream was cut or changed."""


class SealingWriter:
    """Encrypts what is written to it; `close` writes the last chunk and leaves the target open."""

    def __init__(self, target: BinaryIO, passphrase: Secret) -> None:
        parameters = _PARAMETERS.pack(_LOG2_COST, _BLOCK_SIZE, _LANES)
        self._header = MAGIC + parameters + secrets.token_bytes(_SALT_BYTES)
        self._cipher = _cipher(self._header, passphrase)
        self._target = target
        self._buffer = bytearray()
        self._number = 0
        target.write(self._header)

    def write(self, content: bytes) -> int:
        self._buffer += content
        # One chunk stays behind: only `close` knows which is the last.
        while len(self._buffer) > CHUNK_BYTES:
            self._write_chunk(bytes(self._buffer[:CHUNK_BYTES]), is_last=False)
            del self._buffer[:CHUNK_BYTES]
        return len(content)

    def close(self) -> None:
        self._write_chunk(bytes(self._buffer), is_last=True)
        self._buffer.clear()

    def _write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        context = self._header + _CHUNK_CONTEXT.pack(self._number, is_last)
        self._target.write(self._cipher.encrypt(_nonce(self._number), chunk, context))
        self._number += 1


class OpeningReader:
    """Decrypts a sealed stream; it returns nothing that was not authenticated first."""

    def __init__(self, source: BinaryIO, passphrase: Secret) -> None:
        self._header = source.read(len(MAGIC) + _PARAMETERS.size + _SALT_BYTES)
        if len(self._header) < len(MAGIC) + _PARAMETERS.size + _SALT_BYTES:
            raise SealBroken
        self._cipher = _cipher(self._header, passphrase)
        self._source = source
        self._next = source.read(CHUNK_BYTES + _TAG_BYTES)
        self._buffer = bytearray()
        self._number = 0
        self._has_ended = False

    def read(self, size: int = -1) -> bytes:
        while not self._has_ended and (size < 0 or len(self._buffer) < size):
            self._read_chunk()
        end = len(self._buffer) if size < 0 else size
        content = bytes(self._buffer[:end])
        del self._buffer[:end]
        return content

    def _read_chunk(self) -> None:
        chunk = self._next
        self._next = self._source.read(CHUNK_BYTES + _TAG_BYTES)
        is_last = not self._next
        context = self._header + _CHUNK_CONTEXT.pack(self._number, is_last)
        try:
            self._buffer += self._cipher.decrypt(_nonce(self._number), chunk, context)
        except (InvalidTag, ValueError):
            raise SealBroken from None
        self._number += 1
        self._has_ended = is_last


def _cipher(header: bytes, passphrase: Secret) -> AESGCM:
    log2_cost, block_size, lanes = _PARAMETERS.unpack_from(header, len(MAGIC))
    if not (
        0 < log2_cost <= _MAX_LOG2_COST and 0 < block_size <= _MAX_BLOCK_SIZE and 0 < lanes <= _MAX_LANES
    ):
        raise SealBroken
    cost = 1 << log2_cost
    key = hashlib.scrypt(
        passphrase.reveal().encode(),
        salt=header[-_SALT_BYTES:],
        n=cost,
        r=block_size,
        p=lanes,
        maxmem=256 * cost * block_size,
        dklen=32,
    )
    return AESGCM(key)


def _nonce(number: int) -> bytes:
    """Return the nonce of a chunk; the key is the stream's own, because its salt is."""
    return number.to_bytes(12, "big")
