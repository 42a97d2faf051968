"""The first member of a backup: what it contains, with sums, and which root key it belongs to."""

import hmac
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.crypto import RootKey
from retinue.kit.errors import CannotStart

FORMAT = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 512 * 1024 * 1024
FOLDERS = ("files", "scripts", "databases", "packages")
"""The folders of the data dir that a backup contains."""
_KEY_TEXT = b"This backup belongs to this root key."
_SHA256 = re.compile(r"[0-9a-f]{64}")

DatabaseKind = Literal["sqlite", "postgresql"]


class BackupRefused(CannotStart):
    """The backup cannot be used: it is cut, changed, foreign, too new, or of another root key."""

    exit_code = 3


class ArchivedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    bytes: int
    sha256: str


class ArchivedDatabase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The copied database; `server` is PostgreSQL's major version."""

    kind: DatabaseKind
    path: str
    bytes: int
    sha256: str
    tables: dict[str, int]
    server: int | None = None


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`files_in` says where the blobs are; `missing` names blobs that the store had lost before.

    The two checks are made with the root key: one proves that a key belongs to the backup, the other that
    nobody changed the manifest. Both are null if the backup was made without the key.
    """

    format: int
    version: str
    revision: str
    created_at: Instant
    database: ArchivedDatabase
    files: list[ArchivedFile]
    files_in: Literal["archive", "bucket"] = "archive"
    missing: list[str] = []
    key_check: str | None = None
    manifest_check: str | None = None

    @property
    def archived(self) -> Iterable[ArchivedFile]:
        """The members after the manifest, in order."""
        yield ArchivedFile(self.database.path, self.database.bytes, self.database.sha256)
        if self.files_in == "archive":
            yield from self.files
        else:
            yield from (file for file in self.files if not file.path.startswith("files/"))

    @property
    def in_bucket(self) -> list[ArchivedFile]:
        if self.files_in == "archive":
            return []
        return [file for file in self.files if file.path.startswith("files/")]

    @property
    def row_count(self) -> int:
        return sum(self.database.tables.values())


def sign(manifest: BackupManifest, root: RootKey) -> BackupManifest:
    keyed = msgspec.structs.replace(manifest, key_check=_key_check(root), manifest_check=None)
    return msgspec.structs.replace(keyed, manifest_check=_manifest_check(keyed, root))


def require_signed(
    manifest: BackupManifest, roots: Sequence[RootKey], *, may_be_unsigned: bool
) -> RootKey | None:
    """Return the root key that signed the manifest; None if none at hand did and `may_be_unsigned`.

    A manifest that names a key at hand but was changed is refused in any case: somebody changed it.
    """
    for root in roots:
        if _has_key(manifest, root):
            _require_unchanged(manifest, root)
            return root
    if may_be_unsigned:
        return None
    if manifest.key_check is None:
        raise BackupRefused(
            "the backup is not signed with a master key, so anybody may have written or changed it, and "
            "restoring it runs what they wrote. If you know where it comes from: --unsigned"
        )
    raise BackupRefused(
        "the backup belongs to another master key, so nothing proves who wrote it. Use the key of the "
        "instance that was backed up; if you know where it comes from: --unsigned"
    )


def _has_key(manifest: BackupManifest, root: RootKey) -> bool:
    return _is_equal(_key_check(root), manifest.key_check)


def _require_unchanged(manifest: BackupManifest, root: RootKey) -> None:
    """Refuse a manifest that somebody without the root key has changed."""
    unsigned = msgspec.structs.replace(manifest, manifest_check=None)
    if not _is_equal(_manifest_check(unsigned, root), manifest.manifest_check):
        raise BackupRefused("the manifest of the backup was changed after it was written")


def _is_equal(expected: str, actual: str | None) -> bool:
    # As bytes: of two texts, `compare_digest` takes ASCII only, and a stranger may write anything.
    return actual is not None and hmac.compare_digest(expected.encode(), actual.encode())


def encode(manifest: BackupManifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def decode(content: bytes) -> BackupManifest:
    try:
        found = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        number = msgspec.json.decode(found.get("format", b"0"), type=int)
    except msgspec.MsgspecError:
        raise BackupRefused("this is no backup of Retinue: its manifest is not readable") from None
    if number < 1:
        raise BackupRefused(f"this is no backup of Retinue: there is no format {number}")
    if number > FORMAT:
        raise BackupRefused(
            f"a newer version of Retinue wrote this backup (format {number}, this version reads {FORMAT})"
        )
    try:
        manifest = msgspec.json.decode(content, type=BackupManifest)
    except msgspec.MsgspecError as error:
        raise BackupRefused(f"this is no backup of Retinue: {error}") from None
    _require_safe_paths(manifest)
    return manifest


def _require_safe_paths(manifest: BackupManifest) -> None:
    """Refuse paths outside the folders of a backup: the manifest may be a stranger's."""
    expected = {"sqlite": "database.sqlite", "postgresql": "database.dump"}[manifest.database.kind]
    if manifest.database.path != expected:
        raise BackupRefused("the manifest names another database file than a backup has")
    seen = set()
    for file in (*manifest.files, *manifest.archived):
        is_database = file.path == expected
        parts = PurePosixPath(file.path).parts
        is_plain = "/".join(parts) == file.path and ".." not in parts and "\0" not in file.path
        is_below = len(parts) > 1 and parts[0] in FOLDERS and is_plain
        if not (is_database or is_below) or file.bytes < 0 or not _SHA256.fullmatch(file.sha256):
            raise BackupRefused(f"the manifest names a file that no backup contains: {file.path!r}")
    for file in manifest.files:
        if file.path in seen:
            raise BackupRefused(f"the manifest names a file twice: {file.path!r}")
        seen.add(file.path)


def _key_check(root: RootKey) -> str:
    return root.authenticate("backup-key", _KEY_TEXT)


def _manifest_check(manifest: BackupManifest, root: RootKey) -> str:
    return root.authenticate("backup-manifest", msgspec.json.encode(manifest))
