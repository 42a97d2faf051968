"""The file of a backup: a tar, sealed if there is a passphrase, that is read only as its manifest says."""

import contextlib
import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast

from retinue.cli.backups.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    ArchivedFile,
    BackupManifest,
    BackupRefused,
    decode,
    encode,
)
from retinue.kit.sealed_stream import MAGIC, OpeningReader, SealBroken, SealingWriter
from retinue.kit.secrets import Secret

CHUNK_BYTES = 1024 * 1024
_END_BYTES = 1024

Sink = Callable[[ArchivedFile, bool], contextlib.AbstractContextManager[BinaryIO]]
"""Opens the file to which a member is written; the flag says whether it is executable."""


class ByteSource(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class SourceChanged(Exception):
    """A file changed while it was read."""


def sum_of(path: Path) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def write_archive(
    target: Path, manifest: BackupManifest, sources: dict[str, Path], passphrase: Secret | None
) -> None:
    """Write a new file, readable by its owner only, and sync it to disk."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        if passphrase is None:
            _write_members(file, manifest, sources)
        else:
            sealing = SealingWriter(file, passphrase)
            _write_members(cast("BinaryIO", sealing), manifest, sources)
            sealing.close()
        file.flush()
        os.fsync(file.fileno())


def _write_members(stream: IO[bytes], manifest: BackupManifest, sources: dict[str, Path]) -> None:
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        content = encode(manifest)
        tar.addfile(_member(MANIFEST, len(content)), io.BytesIO(content))
        for entry in manifest.archived:
            source = sources[entry.path]
            member = _member(entry.path, entry.bytes, is_executable=bool(source.stat().st_mode & 0o100))
            with source.open("rb") as file:
                try:
                    tar.addfile(member, file)
                except OSError as error:
                    if error.errno is None:  # tarfile's own: the file is shorter than it was
                        raise SourceChanged(f"{source} changed while it was backed up") from error
                    raise


def _member(path: str, size: int, *, is_executable: bool = False) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.size = size
    member.mode = 0o700 if is_executable else 0o600
    return member


class BackupReader:
    """A backup that was opened: the manifest is read, the members follow when they are asked for."""

    def __init__(self, stream: "_MeasuredStream", tar: tarfile.TarFile, manifest: BackupManifest) -> None:
        self._stream = stream
        self._tar = tar
        self.manifest = manifest

    def read_all(self, sink: Sink | None = None) -> None:
        """Read every member and compare it with the manifest; write it to the sink if there is one."""
        with _refused_if_broken():
            for entry in self.manifest.archived:
                self._read_member(entry, sink)
            if self._tar.next() is not None:
                raise BackupRefused("the backup contains a file that its manifest does not name")
            self._stream.require_end()

    def _read_member(self, entry: ArchivedFile, sink: Sink | None) -> None:
        member = self._tar.next()
        if member is None:
            raise BackupRefused(f"the backup is cut: {entry.path} is missing")
        if member.name != entry.path or not member.isreg() or member.size != entry.bytes:
            raise BackupRefused(f"the backup was changed: {member.name!r} is where {entry.path!r} should be")
        content = self._tar.extractfile(member)
        assert content is not None
        digest = hashlib.sha256()
        is_executable = bool(member.mode & 0o100)
        with sink(entry, is_executable) if sink else contextlib.nullcontext() as target:
            while chunk := content.read(CHUNK_BYTES):
                digest.update(chunk)
                if target is not None:
                    target.write(chunk)
        if digest.hexdigest() != entry.sha256:
            raise BackupRefused(f"the backup was changed or damaged: the sum of {entry.path} is wrong")


class _MeasuredStream:
    """Reads a tar and remembers how it ends: a whole one ends with zeros that fill its last record."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._size = 0
        self._zeros = 0

    def read(self, size: int = -1) -> bytes:
        content = self._source.read(size)
        self._size += len(content)
        kept = len(content.rstrip(b"\0"))
        self._zeros = len(content) - kept if kept else self._zeros + len(content)
        return content

    def require_end(self) -> None:
        """Read to the end; what follows the last member may only be zeros."""
        while chunk := self.read(CHUNK_BYTES):
            if chunk.strip(b"\0"):
                raise BackupRefused("something follows the end of the backup")
        if self._size % tarfile.RECORDSIZE or self._zeros < _END_BYTES:
            raise BackupRefused("the backup is cut: its end is missing")


@contextlib.contextmanager
def open_archive(path: Path, passphrase: Secret | None) -> Iterator[BackupReader]:
    """Open a backup and read its manifest; refuse what is none, is cut, or has another passphrase."""
    with path.open("rb") as file, _refused_if_broken():
        is_sealed = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        if is_sealed and passphrase is None:
            raise BackupRefused(
                f"{path} is sealed with a passphrase. Name the file that contains it: --passphrase-file"
            )
        if not is_sealed and passphrase is not None:
            raise BackupRefused(f"{path} is not sealed with a passphrase. Leave out --passphrase-file.")
        source = file if passphrase is None else OpeningReader(file, passphrase)
        stream = _MeasuredStream(source)
        with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|") as tar:
            yield BackupReader(stream, tar, _read_manifest(tar))


def _read_manifest(tar: tarfile.TarFile) -> BackupManifest:
    member = tar.next()
    if member is None or member.name != MANIFEST or not member.isreg() or member.size > MAX_MANIFEST_BYTES:
        raise BackupRefused("this is no backup of Retinue: it does not begin with a manifest")
    content = tar.extractfile(member)
    assert content is not None
    return decode(content.read())


@contextlib.contextmanager
def _refused_if_broken() -> Iterator[None]:
    try:
        yield
    except SealBroken:
        raise BackupRefused("the passphrase is wrong, or the backup was cut or changed") from None
    except (tarfile.TarError, EOFError) as error:
        raise BackupRefused(f"this is no backup of Retinue, or it is cut or damaged: {error}") from None
