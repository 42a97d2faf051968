"""Envelope encryption: each value has a data key, wrapped by a tenant key that derives from a version key."""

import base64
import functools
import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from retinue.kit.durable_files import create_private_file
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting

SAMPLE_MASTER_KEY = "c2FtcGxlLWtleS1vZi10aGUtZG9jdW1lbnRhdGlvbiE="
"""The example value in the documentation; no instance starts with it."""

_FORMAT = 1
_KEY_BYTES = 32
_MAX_CACHED_TENANT_KEYS = 4096
_MAX_CACHED_DATA_KEYS = 256
_NONCE_BYTES = 12
_TAG_BYTES = 16
_WRAPPED_BYTES = _NONCE_BYTES + _KEY_BYTES + _TAG_BYTES
_HEADER = struct.Struct(">BI")
_MIN_SEALED_BYTES = _HEADER.size + _WRAPPED_BYTES + _NONCE_BYTES + _TAG_BYTES
_BASE64_KEY = re.compile(r"(?:[A-Za-z0-9+/]{43}|[A-Za-z0-9_-]{43})=?")
_SAMPLE_WORDS = (b"secret", b"changeme", b"change-me", b"change_me", b"password", b"default", b"sample")


class DecryptFailed(RetinueError):
    """A stored secret could not be decrypted. Enter the secret again."""

    status, code = 500, "decrypt_failed"


class WrongKey(VaultSealed):
    """The master key does not match the database. Start the instance with the key that sealed it."""


class SealLocation(msgspec.Struct, frozen=True):
    """The record field to which a sealed value is bound; it cannot be opened anywhere else."""

    tenant_id: str
    table: str
    record_id: str
    field: str


class Envelope(NamedTuple):
    version: int
    wrapped: bytes
    body: bytes


class KeyRing:
    """The version keys of an unsealed vault; new values are sealed under the active one."""

    def __init__(self, versions: Mapping[int, bytes], active: int) -> None:
        if active not in versions:
            raise ValueError("the active version has no key")
        for version, key in versions.items():
            if not 0 < version < 2**32 or len(key) != _KEY_BYTES:
                raise ValueError("a version is a 32-bit number and its key has 32 bytes")
        self._versions = dict(versions)
        self._tenant_keys: dict[tuple[int, str], AESGCM] = {}
        self._data_keys: dict[tuple[int, bytes, SealLocation], AESGCM] = {}
        self.active = active

    def seal(self, plaintext: bytes, location: SealLocation) -> bytes:
        data_key = secrets.token_bytes(_KEY_BYTES)
        body = _encrypt(AESGCM(data_key), plaintext, _value_context(location))
        return self._wrap(data_key, location) + body

    def open(self, sealed: bytes, location: SealLocation) -> bytes:
        envelope = _parse(sealed)
        return _decrypt(self._data_key(envelope, location), envelope.body, _value_context(location))

    async def prepare(self) -> None:
        """Prepare for sealing values to store; a ring shared by several processes refreshes itself here."""

    def rewrap(self, sealed: bytes, location: SealLocation) -> bytes:
        """Wrap the data key under the active version; the value itself is neither read nor changed."""
        envelope = _parse(sealed)
        return self._wrap(self._unwrap(envelope, location), location) + envelope.body

    def derive(self, purpose: str, version: int | None = None) -> bytes:
        """Derive a key of this instance for a purpose, from the active version unless another is given."""
        return _derive(self._versions[version or self.active], "instance/" + purpose)

    @property
    def versions(self) -> frozenset[int]:
        """The versions of the key that are known."""
        return frozenset(self._versions)

    def _wrap(self, data_key: bytes, location: SealLocation) -> bytes:
        wrapped = _encrypt(
            self._tenant_key(location, self.active), data_key, _wrap_context(location, self.active)
        )
        return version_header(self.active) + wrapped

    def _unwrap(self, envelope: Envelope, location: SealLocation) -> bytes:
        if envelope.version not in self._versions:
            raise DecryptFailed
        tenant_key = self._tenant_key(location, envelope.version)
        return _decrypt(tenant_key, envelope.wrapped, _wrap_context(location, envelope.version))

    def _data_key(self, envelope: Envelope, location: SealLocation) -> AESGCM:
        """Return the data key, cached for values that are opened often; the values are not cached."""
        cache_key = (envelope.version, envelope.wrapped, location)
        data_key = self._data_keys.get(cache_key)
        if data_key is None:
            data_key = AESGCM(self._unwrap(envelope, location))
            if len(self._data_keys) >= _MAX_CACHED_DATA_KEYS:
                self._data_keys.clear()
            self._data_keys[cache_key] = data_key
        return data_key

    def _tenant_key(self, location: SealLocation, version: int) -> AESGCM:
        # Deriving a key costs more than decrypting with it; its version key is in memory anyway.
        tenant_key = self._tenant_keys.get((version, location.tenant_id))
        if tenant_key is None:
            if len(self._tenant_keys) >= _MAX_CACHED_TENANT_KEYS:
                self._tenant_keys.clear()
            tenant_key = AESGCM(_derive(self._versions[version], "kek/" + location.tenant_id))
            self._tenant_keys[version, location.tenant_id] = tenant_key
        return tenant_key

    def __reduce__(self) -> Any:
        raise TypeError("a key ring cannot be pickled")


class SealedRing(KeyRing):
    """The ring of a vault whose root key is missing or wrong; every operation raises `VaultSealed`."""

    def __init__(self) -> None:
        self._versions = {}
        self._tenant_keys = {}
        self._data_keys = {}
        self.active = 0

    def seal(self, plaintext: bytes, location: SealLocation) -> bytes:  # noqa: ARG002 - the ring's signature
        raise VaultSealed

    def open(self, sealed: bytes, location: SealLocation) -> bytes:  # noqa: ARG002 - the ring's signature
        raise VaultSealed

    def rewrap(self, sealed: bytes, location: SealLocation) -> bytes:  # noqa: ARG002 - the ring's signature
        raise VaultSealed

    def derive(self, purpose: str, version: int | None = None) -> bytes:  # noqa: ARG002 - the ring's signature
        raise VaultSealed


class Sealed:
    """A record's secret field: plaintext that is not stored yet, or stored ciphertext."""

    __slots__ = ("_bytes", "_location")

    def __init__(self, content: bytes, location: SealLocation | None) -> None:
        self._bytes = content
        self._location = location

    @classmethod
    def of(cls, text: str | bytes) -> Self:
        return cls(text.encode() if isinstance(text, str) else bytes(text), None)

    @classmethod
    def stored(cls, sealed: bytes, location: SealLocation) -> Self:
        return cls(bytes(sealed), location)

    @property
    def is_pending(self) -> bool:
        return self._location is None

    def ciphertext(self, ring: KeyRing, location: SealLocation) -> bytes:
        """Return the bytes to store at this location; refuse a value that is stored at another one."""
        if self._location is None:
            return ring.seal(self._bytes, location)
        if self._location != location:
            raise ValueError("a stored secret is bound to its location; open it and seal it again to copy it")
        return self._bytes

    @property
    def digest(self) -> str:
        """Return a hash that changes with every stored value and reveals nothing about it."""
        if self._location is None:
            raise ValueError("a secret that is not stored yet has no digest")
        return hashlib.sha256(self._bytes).hexdigest()

    def open(self, ring: KeyRing) -> bytes:
        return self._bytes if self._location is None else ring.open(self._bytes, self._location)

    def text(self, ring: KeyRing) -> str:
        return self.open(ring).decode()

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __format__(self, _spec: str) -> str:
        return "***"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a sealed value cannot be pickled")


class RootKey:
    """The only key outside the database; it wraps the version keys and nothing else."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY_BYTES:
            raise ValueError("a root key has 32 bytes")
        self._key = key

    @classmethod
    def parse(cls, text: Secret, source: str = "RETINUE_MASTER_KEY") -> Self:
        """Decode a root key; `source` names the setting or file in error messages."""
        encoded = text.reveal().strip()
        if not _BASE64_KEY.fullmatch(encoded):
            raise BadSetting(f"{source} must be 32 random bytes in base64")
        key = base64.urlsafe_b64decode(encoded.rstrip("=").replace("+", "-").replace("/", "_") + "=")
        if len(set(key)) == 1 or key.lower().startswith(_SAMPLE_WORDS):
            raise BadSetting(f"{source} is a known sample value; use 32 random bytes in base64")
        return cls(key)

    @classmethod
    def generate(cls) -> Self:
        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def load_or_create(cls, path: Path, may_create: bool) -> Self | None:
        """Return the key in a file; if the file is missing, create it if allowed, else return None."""
        if not path.exists():
            if not may_create:
                return None
            create_private_file(path, cls.generate().encoded().reveal().encode() + b"\n")
        if path.stat().st_mode & 0o077:
            raise BadSetting(f"{path} must be readable by its owner only: chmod 600 {path}")
        return cls.parse(Secret(path.read_text(errors="replace")), str(path))

    def encoded(self) -> Secret:
        """Return the base64 text that `parse` accepts."""
        return Secret(base64.b64encode(self._key).decode())

    @property
    def fingerprint(self) -> str:
        """Return an identifier of the key that reveals nothing about it."""
        return _derive(self._key, "fingerprint").hex()[:16]

    def authenticate(self, purpose: str, content: bytes) -> str:
        """Return a code that only this key can make for the content, and that reveals nothing about it."""
        return hmac.new(_derive(self._key, "authenticate/" + purpose), content, hashlib.sha256).hexdigest()

    def wrap(self, version_key: bytes, version: int) -> bytes:
        wrapped = _encrypt(AESGCM(_derive(self._key, "wrap")), version_key, _version_context(version))
        return bytes([_FORMAT]) + wrapped

    def unwrap(self, wrapped: bytes, version: int) -> bytes:
        if wrapped[:1] != bytes([_FORMAT]):
            raise WrongKey
        try:
            return _decrypt(AESGCM(_derive(self._key, "wrap")), wrapped[1:], _version_context(version))
        except DecryptFailed:
            raise WrongKey from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RootKey) and hmac.compare_digest(self._key, other._key)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"RootKey({self.fingerprint})"

    def __reduce__(self) -> Any:
        raise TypeError("a root key cannot be pickled")


def version_header(version: int) -> bytes:
    """Return the first bytes of every value sealed under this version; headers sort as versions do."""
    return _HEADER.pack(_FORMAT, version)


# The wrapped data key is bound to location and key version, the value to the location alone. Rotation
# therefore rewraps 60 bytes and leaves the value untouched.
@functools.lru_cache(maxsize=1024)
def _value_context(location: SealLocation) -> bytes:
    return _context("v1", location.tenant_id, location.table, location.record_id, location.field)


@functools.lru_cache(maxsize=1024)
def _wrap_context(location: SealLocation, version: int) -> bytes:
    return _context(
        "v1", location.tenant_id, location.table, location.record_id, location.field, str(version)
    )


def _version_context(version: int) -> bytes:
    return _context("v1", "version-key", str(version))


def _context(*parts: str) -> bytes:
    encoded = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def _parse(sealed: bytes) -> Envelope:
    if len(sealed) < _MIN_SEALED_BYTES:
        raise DecryptFailed
    format_version, version = _HEADER.unpack_from(sealed)
    if format_version != _FORMAT:
        raise DecryptFailed
    end = _HEADER.size + _WRAPPED_BYTES
    return Envelope(version, sealed[_HEADER.size : end], sealed[end:])


def _encrypt(cipher: AESGCM, plaintext: bytes, context: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plaintext, context)


def _decrypt(cipher: AESGCM, sealed: bytes, context: bytes) -> bytes:
    if len(sealed) < _NONCE_BYTES + _TAG_BYTES:
        raise DecryptFailed
    try:
        return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context)
    except InvalidTag:
        raise DecryptFailed from None


def _derive(key: bytes, purpose: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=purpose.encode()).derive(key)
