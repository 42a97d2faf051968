"""Files: bytes and row come together, go together, and what a crash left over is swept after a day."""

import os
from pathlib import Path

import pytest

from retinue.adapters.blobs import Blobs
from retinue.files import service as files
from retinue.files.models import File
from retinue.kit.ids import new_id

DAY_S = 24 * 3600


@pytest.fixture
async def tenant(people):
    return await people.tenant()


@pytest.fixture
def store(people, tenant):
    async def make(content: bytes = b"hello", purpose: str = "form") -> File:
        async with people.context(tenant.id) as ctx:
            return await files.store(
                ctx, content, purpose=purpose, filename="notes.txt", mime_type="text/plain"
            )

    return make


@pytest.fixture
async def sweep(service, clock):
    """Returns a function that lets a day pass and runs the sweep."""
    await service.runner.drain()

    async def run() -> None:
        clock.advance(DAY_S + 1)
        await service.runner.drain()

    return run


def blob(service, file: File) -> Path:
    return service.settings.data_dir / "files" / file.tenant_id / file.id


async def download(ctx, file: File) -> bytes:
    download = await files.content(ctx, file)
    return b"".join([chunk async for chunk in download.chunks()])


async def test_a_file_is_stored_described_and_read(service, people, tenant, store):
    file = await store(b"hello")
    assert (file.size_bytes, file.mime_type, file.filename) == (5, "text/plain", "notes.txt")
    assert file.sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert blob(service, file).read_bytes() == b"hello"
    assert list((service.settings.data_dir / "tmp").iterdir()) == []
    async with people.context(tenant.id) as ctx:
        assert await ctx.db.get(File, file.id) == file
        assert await download(ctx, file) == b"hello"


async def test_bytes_are_durable_before_the_row_and_outlive_a_rollback(service, people, tenant):
    refused = people.context(tenant.id)
    file = await files.store(refused, b"lost", purpose="form", filename="x", mime_type="text/plain")
    assert blob(service, file).read_bytes() == b"lost"
    await refused.rollback()
    async with people.context(tenant.id) as ctx:
        assert await ctx.db.get(File, file.id) is None
    assert blob(service, file).exists()


async def test_bytes_are_not_stored_while_a_transaction_is_open(people, tenant):
    ctx = people.context(tenant.id)
    await ctx.db.insert(File(filename="a", mime_type="b", size_bytes=0, sha256="", purpose="form"))
    with pytest.raises(RuntimeError, match="before the transaction opens"):
        await files.store(ctx, b"x", purpose="form", filename="x", mime_type="text/plain")
    await ctx.rollback()


async def test_several_files_are_kept_first_and_their_rows_inserted_together(service, people, tenant):
    async with people.context(tenant.id) as ctx:
        kept = [
            await files.store_content(ctx, content, purpose="form", filename="x", mime_type="text/plain")
            for content in (b"one", b"two")
        ]
        await ctx.db.insert_many(kept)
    async with people.context(tenant.id) as ctx:
        assert await ctx.db.count(File) == 2
    assert [blob(service, file).read_bytes() for file in kept] == [b"one", b"two"]


async def test_a_removed_file_loses_its_row_at_once_and_its_bytes_a_day_later(
    service, people, tenant, store, clock
):
    file = await store()
    async with people.context(tenant.id) as ctx:
        await files.remove(ctx, file)
        assert blob(service, file).exists()
    clock.advance(DAY_S - 60)
    await service.runner.drain()
    assert blob(service, file).exists(), "a backup that has begun still needs them"
    clock.advance(61)
    await service.runner.drain()
    assert not blob(service, file).exists()
    async with people.context(tenant.id) as ctx:
        assert await ctx.db.get(File, file.id) is None


async def test_a_removal_that_is_rolled_back_keeps_the_bytes(service, people, tenant, store):
    file = await store()
    refused = people.context(tenant.id)
    await files.remove(refused, file)
    await refused.rollback()
    await service.runner.drain()
    async with people.context(tenant.id) as ctx:
        assert await download(ctx, file) == b"hello"


async def test_the_sweep_removes_old_bytes_without_a_row_and_nothing_else(service, clock, store, sweep):
    kept = await store()
    orphans = []
    for age_s in (60, -60):
        folder = service.settings.data_dir / "files" / new_id("ten")
        folder.mkdir()
        path = folder / new_id("file")
        path.write_bytes(b"orphan")
        os.utime(path, (clock.time() - age_s,) * 2)
        orphans.append(path)
    os.utime(blob(service, kept), (clock.time() - 10 * DAY_S,) * 2)
    await sweep()
    assert [path.exists() for path in orphans] == [False, True]
    assert blob(service, kept).exists()
    await sweep()
    assert [path.exists() for path in orphans] == [False, False]
    assert blob(service, kept).exists()


async def test_the_sweep_compares_more_files_than_one_query_takes(service, clock, store, sweep):
    kept = await store()
    os.utime(blob(service, kept), (clock.time() - 2 * DAY_S,) * 2)
    for _ in range(1100):
        path = blob(service, kept).with_name(new_id("file"))
        path.touch()
        os.utime(path, (clock.time() - 2 * DAY_S,) * 2)
    await sweep()
    assert [path.name for path in blob(service, kept).parent.iterdir()] == [kept.id]


async def test_only_avatars_are_public(api, store):
    private = await store(purpose="form")
    answer = await api.get(f"/api/v1/public/avatars/{private.id}")
    unknown = await api.get(f"/api/v1/public/avatars/{new_id('file')}")
    assert (answer.status, answer.code) == (404, "file_not_found")
    assert answer.body == unknown.body
    for id in ("..%2f..%2fretinue.db", "%00", "x" * 10_000, "FILE_A"):
        assert (await api.get(f"/api/v1/public/avatars/{id}")).status == 404


async def test_a_file_whose_bytes_are_gone_is_not_found(service, api, store):
    file = await store(purpose="avatar")
    await service.instance.adapters[Blobs].delete(files.blob_key(file))
    assert (await api.get(f"/api/v1/public/avatars/{file.id}")).status == 404


async def test_a_head_request_measures_without_reading(api, store):
    file = await store(purpose="avatar")
    answer = await api.request("HEAD", f"/api/v1/public/avatars/{file.id}")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] == "5"
