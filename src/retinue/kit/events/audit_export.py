"""Exports of an audit chain, and the check that needs nothing but the file and a public key.

Each line is one row as it was hashed, with its `hash`. The last line is a manifest, signed with a key of the
instance: it says which rows the file holds, so that neither the first nor the last of them can be cut off.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from retinue.kit.crypto import KeyRing
from retinue.kit.events.log import chain_hash, hashed_fields
from retinue.kit.events.models import AuditEntry
from retinue.kit.json_types import JsonObject

_KEY_PURPOSE = "audit-export"
_canonical = msgspec.json.Encoder(order="sorted").encode


class ExportManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of an export; `signature` covers the other fields in canonical form."""

    tenant_id: str
    from_sequence: int
    to_sequence: int
    rows: int
    first_previous_hash: str
    last_hash: str
    sha256: str
    exported_at: str
    key_id: str
    signature: str = ""

    def signed_bytes(self) -> bytes:
        fields = msgspec.structs.asdict(self)
        del fields["signature"]
        return _canonical(fields)


def signing_key(ring: KeyRing, version: int | None = None) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(ring.derive(_KEY_PURPOSE, version))


def public_keys(ring: KeyRing) -> dict[str, bytes]:
    """Return the public keys of all versions by their ids, oldest first."""
    keys = [_public_bytes(signing_key(ring, version)) for version in sorted(ring.versions)]
    return {_key_id(key): key for key in keys}


def _public_bytes(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def _key_id(public: bytes) -> str:
    return hashlib.sha256(public).hexdigest()[:16]


def encode_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class ExportWriter:
    """Turns rows into lines, and what it wrote into the signed manifest."""

    def __init__(self, tenant_id: str, key: Ed25519PrivateKey, exported_at: str) -> None:
        self._tenant_id = tenant_id
        self._key = key
        self._exported_at = exported_at
        self._digest = hashlib.sha256()
        self._first: AuditEntry | None = None
        self._last: AuditEntry | None = None
        self._count = 0

    def line(self, row: AuditEntry) -> bytes:
        line = _canonical({**hashed_fields(row), "hash": row.hash}) + b"\n"
        self._digest.update(line)
        self._first = self._first or row
        self._last = row
        self._count += 1
        return line

    def manifest(self) -> bytes:
        first, last = self._first, self._last
        unsigned = ExportManifest(
            tenant_id=self._tenant_id,
            from_sequence=first.sequence if first else 0,
            to_sequence=last.sequence if last else 0,
            rows=self._count,
            first_previous_hash=first.previous_hash if first else "",
            last_hash=last.hash if last else "",
            sha256=self._digest.hexdigest(),
            exported_at=self._exported_at,
            key_id=_key_id(_public_bytes(self._key)),
        )
        signature = encode_base64(self._key.sign(unsigned.signed_bytes()))
        return _canonical({"manifest": msgspec.structs.replace(unsigned, signature=signature)}) + b"\n"


class BadExport(Exception):
    """Why a file is not what was exported."""


def check_export(lines: Iterable[bytes], keys: Mapping[str, bytes]) -> ExportManifest:
    """Return the manifest of a whole, unchanged file; raise BadExport otherwise.

    `keys` are the public keys by their ids.
    """
    digest, count, previous = hashlib.sha256(), 0, None
    manifest: ExportManifest | None = None
    for line in lines:
        if manifest is not None:
            raise BadExport("there are lines after the manifest")
        content = _parse(line, count + 1)
        if "manifest" in content:
            manifest = _read_manifest(content)
            continue
        count += 1
        _check_row(content, previous, count)
        previous = content
        digest.update(line)
    if manifest is None:
        raise BadExport("the manifest is missing: the file was cut off")
    _check_signature(manifest, keys)
    if (manifest.rows, manifest.sha256) != (count, digest.hexdigest()):
        raise BadExport("the rows are not those of the manifest")
    return manifest


def _parse(line: bytes, number: int) -> JsonObject:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise BadExport(f"line {number} is not JSON") from None


def _read_manifest(content: JsonObject) -> ExportManifest:
    try:
        return msgspec.convert(content["manifest"], ExportManifest)
    except msgspec.ValidationError as error:
        raise BadExport(f"the manifest is not valid: {error}") from None


def _check_row(content: JsonObject, previous: JsonObject | None, number: int) -> None:
    try:
        row = msgspec.convert({**content, "updated_at": ""}, AuditEntry)
    except msgspec.ValidationError as error:
        raise BadExport(f"line {number} is not a row: {error}") from None
    if chain_hash(row) != row.hash:
        raise BadExport(f"row {row.sequence} was changed")
    if previous is None:
        return
    if row.sequence != previous["sequence"] + 1:
        raise BadExport(f"row {previous['sequence'] + 1} is missing or not in its place")
    if row.previous_hash != previous["hash"]:
        raise BadExport(f"row {row.sequence} does not continue the one before it")


def _check_signature(manifest: ExportManifest, keys: Mapping[str, bytes]) -> None:
    public = keys.get(manifest.key_id)
    if public is None:
        raise BadExport(f"the key {manifest.key_id} is not among those given")
    try:
        signature = decode_base64(manifest.signature)
        Ed25519PublicKey.from_public_bytes(public).verify(signature, manifest.signed_bytes())
    except (InvalidSignature, ValueError):
        raise BadExport("the signature of the manifest is not valid") from None
