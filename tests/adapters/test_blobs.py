"""Blobs are durable before they are acknowledged, read in pieces, and stay in their folder."""

import asyncio
import os
import secrets
import stat
from pathlib import Path

import pytest

from retinue.adapters.blobs import BadBlobKey, BlobMissing, LocalBlobs
from retinue.adapters.blobs.local import CHUNK_BYTES

KEY = "ten_a/file_1"


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path / "data" / "files"


@pytest.fixture
def blobs(root) -> LocalBlobs:
    return LocalBlobs(root)


@pytest.fixture
def upload(tmp_path):
    def make(content: bytes, folder: Path = tmp_path) -> Path:
        path = folder / f"upload-{secrets.token_hex(4)}"
        path.write_bytes(content)
        return path

    return make


async def read(blobs: LocalBlobs, *arguments) -> bytes:
    return b"".join([piece async for piece in await blobs.open(*arguments)])


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_blob_is_taken_over_read_measured_and_removed(blobs, root, upload):
    source = upload(b"hello")
    await blobs.put(KEY, source)
    assert not source.exists()
    assert await read(blobs, KEY) == b"hello"
    assert await blobs.size(KEY) == 5
    assert [path.name for path in (root / "ten_a").iterdir()] == ["file_1"]
    await blobs.delete(KEY)
    await blobs.delete(KEY)
    assert list((root / "ten_a").iterdir()) == []


async def test_files_and_folders_are_private(blobs, root, upload):
    source = upload(b"x")
    source.chmod(0o644)
    await blobs.put(KEY, source)
    assert stat.S_IMODE((root / KEY).stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (root, root / "ten_a")} == {0o700}


async def test_large_blobs_come_in_pieces_of_at_most_256_kib(blobs, upload):
    content = secrets.token_bytes(2 * CHUNK_BYTES + 17)
    await blobs.put(KEY, upload(content))
    pieces = [piece async for piece in await blobs.open(KEY)]
    assert [len(piece) for piece in pieces] == [CHUNK_BYTES, CHUNK_BYTES, 17]
    assert b"".join(pieces) == content


@pytest.mark.parametrize(
    ("offset", "length"),
    [
        (0, 0),
        (0, 1),
        (1, None),
        (CHUNK_BYTES - 1, 2),
        (5, CHUNK_BYTES),
        (CHUNK_BYTES + 99, 1),
        (CHUNK_BYTES + 100, None),
        (10**12, 5),
        (0, 10**12),
    ],
)
async def test_any_range_is_the_same_slice_of_the_content(blobs, upload, offset, length):
    content = secrets.token_bytes(CHUNK_BYTES + 100)
    await blobs.put(KEY, upload(content))
    end = None if length is None else offset + length
    assert await read(blobs, KEY, offset, length) == content[offset:end]


async def test_an_empty_blob_is_a_blob(blobs, upload):
    await blobs.put(KEY, upload(b""))
    assert await blobs.size(KEY) == 0
    assert await read(blobs, KEY) == b""


async def test_putting_again_replaces_the_whole_blob_while_readers_keep_what_they_began(blobs, upload):
    first, second = secrets.token_bytes(2 * CHUNK_BYTES), b"second"
    await blobs.put(KEY, upload(first))
    reading = aiter(await blobs.open(KEY))
    begun = await anext(reading)
    await blobs.put(KEY, upload(second))
    assert begun + b"".join([piece async for piece in reading]) == first
    assert await read(blobs, KEY) == second


async def test_a_missing_blob_is_refused_before_reading(blobs, upload):
    for attempt in (blobs.open(KEY), blobs.size(KEY)):
        with pytest.raises(BlobMissing) as refusal:
            await attempt
        assert (refusal.value.status, refusal.value.code) == (404, "file_not_found")
    await blobs.put(KEY, upload(b"x"))
    pieces = await blobs.open(KEY)
    await blobs.delete(KEY)
    with pytest.raises(BlobMissing):
        await anext(pieces)


async def test_a_reader_that_stops_early_leaves_no_open_file(blobs, upload):
    await blobs.put(KEY, upload(bytes(3 * CHUNK_BYTES)))
    before = open_files()
    await blobs.open(KEY)
    reading = await blobs.open(KEY)
    await anext(reading)
    assert open_files() == before + 1
    await reading.aclose()
    assert open_files() == before


@pytest.mark.parametrize(
    "key",
    [
        "",
        "a",
        "/",
        "a/",
        "/a",
        "a/b/c",
        "../a",
        "a/..",
        "a/.",
        "./a",
        "/etc/passwd",
        "a//b",
        "A/b",
        "a/b\n",
        "a\n/b",
        "a/b\0",
        "a/b.c",
        "a/b-c",
        "a\\b",
        "a/%2e%2e",
        "\N{CYRILLIC SMALL LETTER A}/b",
        "a/\N{ARABIC-INDIC DIGIT ONE}",
    ],
    ids=ascii,
)
async def test_a_key_outside_the_grammar_touches_nothing(blobs, root, upload, key):
    source = upload(b"x")
    for attempt in (blobs.put(key, source), blobs.open(key), blobs.size(key), blobs.delete(key)):
        with pytest.raises(BadBlobKey):
            await attempt
    assert source.exists()
    assert not root.exists()


async def test_links_are_followed_neither_in_nor_out(blobs, root, upload, tmp_path):
    outside = upload(b"outside")
    link = tmp_path / "link"
    link.symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links"):
        await blobs.put(KEY, link)
    (root / KEY).symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links"):
        await read(blobs, KEY)
    await blobs.put(KEY, upload(b"inside"))
    assert outside.read_bytes() == b"outside"
    assert await read(blobs, KEY) == b"inside"


async def test_content_then_name_are_durable_before_put_returns(blobs, root, upload, monkeypatch):
    await blobs.put("ten_a/other", upload(b"other"))
    steps, fsync, rename = [], os.fsync, Path.rename

    def watched_fsync(handle):
        fsync(handle)
        steps.append(("fsync", str(Path(f"/proc/self/fd/{handle}").readlink())))

    def watched_rename(path, target):
        steps.append(("rename", str(target)))
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "rename", watched_rename)
    source, target = upload(b"x"), root / KEY
    await blobs.put(KEY, source)
    assert steps == [("fsync", str(source)), ("rename", str(target)), ("fsync", str(target.parent))]
    steps.clear()
    await blobs.delete(KEY)
    assert steps == [("fsync", str(target.parent))]


async def test_an_upload_on_another_file_system_is_copied_whole(blobs, root, upload):
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or shared_memory.stat().st_dev == root.parent.parent.stat().st_dev:
        pytest.skip("this machine has only one file system to write to")
    content = secrets.token_bytes(2 * CHUNK_BYTES + 1)
    source = upload(content, shared_memory)
    await blobs.put(KEY, source)
    assert not source.exists()
    assert await read(blobs, KEY) == content
    assert stat.S_IMODE((root / KEY).stat().st_mode) == 0o600
    assert [path.name for path in (root / "ten_a").iterdir()] == ["file_1"]


async def test_many_at_once_do_not_mix(blobs, upload):
    contents = {f"ten_{number % 3}/file_{number}": secrets.token_bytes(1000 + number) for number in range(30)}
    await asyncio.gather(*(blobs.put(key, upload(content)) for key, content in contents.items()))
    assert await asyncio.gather(*(read(blobs, key) for key in contents)) == list(contents.values())


async def test_what_was_stored_before_a_moment_is_found_in_every_folder(blobs, root, upload):
    assert [key async for key in blobs.stored_before(2_000_000_000)] == []
    for key, at in (("ten_a/file_old", 1000), ("ten_b/file_older", 10), ("ten_b/file_new", 3000)):
        await blobs.put(key, upload(b"x"))
        os.utime(root / key, (at, at))
    (root / "ten_a" / ".file_draft.0123").touch()
    (root / "lost+found").mkdir()
    found = {key async for key in blobs.stored_before(2000)}
    assert found == {"ten_a/file_old", "ten_b/file_older"}
    assert {key async for key in blobs.stored_before(4000)} == {*found, "ten_b/file_new"}
