"""A file that was cut, changed, swapped, or is no backup of this instance is refused; nothing is restored."""

import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retinue.cli.backups.archive import open_archive
from retinue.cli.backups.manifest import BackupRefused
from retinue.kit.sealed_stream import CHUNK_BYTES, MAGIC
from retinue.kit.secrets import Secret
from retinue.kit.vault import KEY_FILE
from tests.backups.conftest import PASSPHRASE, restore

pytestmark = pytest.mark.either_database

HEADER_BYTES = len(MAGIC) + 3 + 16
STORED_CHUNK = CHUNK_BYTES + 16


def read(file: Path, passphrase: Secret | None = None) -> None:
    with open_archive(file, passphrase) as reader:
        reader.read_all()


def assert_refused(file: Path, content: bytes, passphrase: Secret | None = None, match: str = ".") -> None:
    file.write_bytes(content)
    with pytest.raises(BackupRefused, match=match):
        read(file, passphrase)


@pytest.fixture
async def plain(filled, tmp_path) -> Path:
    await filled.backup(tmp_path / "plain.tar")
    return tmp_path / "plain.tar"


@pytest.fixture
async def sealed(filled, tmp_path) -> Path:
    await filled.backup(tmp_path / "sealed.tar", PASSPHRASE)
    return tmp_path / "sealed.tar"


async def test_a_backup_that_is_cut_anywhere_is_refused(plain, tmp_path):
    content, dice = plain.read_bytes(), random.Random(7)
    ends = [0, 1, 511, 512, 1024, len(content) - 1, len(content) - 512, len(content) - 10_240]
    for end in (*ends, *(dice.randrange(len(content)) for _ in range(60))):
        assert_refused(tmp_path / "cut.tar", content[:end])


async def test_a_changed_byte_is_found_wherever_it_counts(plain, target, tmp_path):
    """No checksum covers the modes and the padding of the tar; they have no effect."""
    content, dice = plain.read_bytes(), random.Random(7)
    with tarfile.open(plain) as tar:
        members = [(member.offset_data, member.size) for member in tar if member.size]
    for start, size in members:
        for at in (start, start + size - 1, *(start + dice.randrange(size) for _ in range(5))):
            changed = bytearray(content)
            changed[at] ^= 1
            if start == members[0][0]:
                # The manifest may still be readable, but then the root key does not vouch for it.
                (tmp_path / "changed.tar").write_bytes(changed)
                with pytest.raises(BackupRefused):
                    await restore(target, tmp_path / "changed.tar")
            else:
                assert_refused(tmp_path / "changed.tar", bytes(changed), match="changed or damaged")


def rebuilt(plain: Path, change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> bytes:
    """Return the backup with other members, as somebody with a tar program would make it."""
    with tarfile.open(plain) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w|") as tar:
        for name, content in change(members).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def with_manifest(change: Callable[[Any], None]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    def apply(members: dict[str, bytes]) -> dict[str, bytes]:
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        return {**members, "manifest.json": json.dumps(manifest).encode()}

    return apply


def swap(members: dict[str, bytes]) -> dict[str, bytes]:
    one, two = [name for name in members if name.startswith("files/")][:2]
    return {**members, one: members[two], two: members[one]}


def swap_with_sums(members: dict[str, bytes]) -> dict[str, bytes]:
    def exchange(manifest: Any) -> None:
        one, two = manifest["files"][:2]
        one["sha256"], two["sha256"] = two["sha256"], one["sha256"]

    return with_manifest(exchange)(swap(members))


async def test_swapped_files_are_refused(plain, target, tmp_path):
    assert_refused(tmp_path / "swapped.tar", rebuilt(plain, swap), match="sum of files/")
    file = tmp_path / "forged.tar"
    file.write_bytes(rebuilt(plain, swap_with_sums))
    read(file)  # its sums fit: only the root key can tell
    with pytest.raises(BackupRefused, match="manifest of the backup was changed"):
        await restore(target, file)
    assert [path.name for path in target.data_dir.iterdir()] == [KEY_FILE]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: {**m, "files/ten_x/extra": b"1"}, "does not name"),
        (lambda m: dict(list(m.items())[:-1]), "is cut: files/"),
        (lambda m: dict(list(m.items())[1:]), "does not begin with a manifest"),
        (with_manifest(lambda m: m.update(format=2)), "a newer version of Retinue wrote this"),
        (with_manifest(lambda m: m.update(surprise=1)), "no backup of Retinue"),
        (with_manifest(lambda m: m["files"][0].update(path="../outside")), "no backup contains"),
        (with_manifest(lambda m: m["files"][0].update(path="files/../../x")), "no backup contains"),
        (with_manifest(lambda m: m["files"][0].update(path="/etc/passwd")), "no backup contains"),
        (with_manifest(lambda m: m["files"][0].update(path="master.key")), "no backup contains"),
        (with_manifest(lambda m: m["files"].append(m["files"][0])), "names a file twice"),
        (with_manifest(lambda m: m["database"].update(path="files/a/b")), "another database file"),
        (lambda m: {**m, "manifest.json": b"[]"}, "no backup of Retinue"),
        (lambda m: {**m, "manifest.json": b"\xff"}, "no backup of Retinue"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_tar_that_somebody_put_together_is_refused(plain, tmp_path, change, match):
    assert_refused(tmp_path / "built.tar", rebuilt(plain, change), match=match)


async def test_a_newer_revision_is_refused(plain, target, tmp_path):
    file = tmp_path / "newer.tar"
    file.write_bytes(rebuilt(plain, with_manifest(lambda m: m.update(revision="9999", version="9.0.0"))))
    with pytest.raises(BackupRefused, match=r"at revision 9999, .* Restore it with Retinue 9\.0\.0 or newer"):
        await restore(target, file)


@pytest.mark.parametrize("content", [b"", b"no backup", b"\0" * 20_480, b"\x1f\x8b" + b"x" * 600])
def test_a_foreign_file_is_refused(tmp_path, content):
    assert_refused(tmp_path / "foreign", content, match="no backup of Retinue")
    if content:
        assert_refused(tmp_path / "foreign", content, PASSPHRASE, match="not sealed")


async def test_a_sealed_backup_is_opened_whole_or_not_at_all(sealed, plain, filled, tmp_path):
    content, file = sealed.read_bytes(), tmp_path / "other.tar"
    with pytest.raises(BackupRefused, match="is sealed with a passphrase"):
        read(sealed)
    with pytest.raises(BackupRefused, match="passphrase is wrong"):
        read(sealed, Secret("another passphrase"))
    first, second = (
        content[HEADER_BYTES : HEADER_BYTES + STORED_CHUNK],
        content[HEADER_BYTES + STORED_CHUNK :],
    )
    assert second, "a test of swapped chunks needs two"
    head = content[:HEADER_BYTES]
    await filled.backup(tmp_path / "twin.tar", PASSPHRASE)
    twin = (tmp_path / "twin.tar").read_bytes()
    for changed in (
        head + second + first,
        head + first,  # the last chunk is missing
        head + first + first + second,
        content + b"x",
        content[:-1],
        content[:HEADER_BYTES],
        head[:-1] + bytes([head[-1] ^ 1]) + first + second,
        twin[:HEADER_BYTES] + first + second,  # of another backup with the same passphrase
        MAGIC + bytes([40, 8, 1]) + content[len(MAGIC) + 3 :],  # a terabyte of memory
    ):
        assert_refused(file, changed, PASSPHRASE, match="passphrase is wrong, or the backup was cut")
