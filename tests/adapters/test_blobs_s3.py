"""Blobs in a bucket behave as those in a folder, against a server that checks every signature."""

import asyncio
import secrets
import time
from pathlib import Path

import pytest

from retinue.adapters.blobs import BadBlobKey, BlobMissing, StorageUnavailable
from retinue.adapters.blobs.s3_address import parse_s3_url
from retinue.adapters.blobs.s3_xml import InvalidStorageResponse, error_code, parse_s3_xml
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting
from tests.adapters.s3_server import PART, blobs_at, front_before, running_s3

KEY = "ten_a/file_1"
LARGE = 2 * PART + 17


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_s3(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
async def blobs(server):
    async with blobs_at(server.url()) as made:
        yield made
        for key in [key async for key in made.stored_before(time.time() + 60)]:
            await made.delete(key)


@pytest.fixture
def upload(tmp_path):
    def make(content: bytes) -> Path:
        path = tmp_path / f"upload-{secrets.token_hex(4)}"
        path.write_bytes(content)
        return path

    return make


async def read(blobs, *arguments) -> bytes:
    return b"".join([piece async for piece in await blobs.open(*arguments)])


async def test_blobs_of_any_size_are_taken_over_read_in_any_range_and_removed(blobs, server, upload):
    for size in (0, 5, PART, LARGE):
        content, source = secrets.token_bytes(size), upload(b"")
        source.write_bytes(content)
        await blobs.put(KEY, source)
        assert not source.exists()
        assert (server.home / KEY).read_bytes() == content
        assert await blobs.size(KEY) == size
        assert await read(blobs, KEY) == content
        for offset, length in ((0, 0), (0, 1), (1, None), (3, PART), (PART - 1, 2), (10**12, 5), (0, 10**12)):
            end = None if length is None else offset + length
            assert await read(blobs, KEY, offset, length) == content[offset:end], (size, offset, length)
    await blobs.put(KEY, upload(b"second"))
    assert await read(blobs, KEY) == b"second"
    await blobs.delete(KEY)
    await blobs.delete(KEY)
    for attempt in (blobs.open(KEY), blobs.size(KEY)):
        with pytest.raises(BlobMissing):
            await attempt


async def test_a_blob_that_goes_before_it_is_read_is_missing(blobs, upload):
    await blobs.put(KEY, upload(b"x"))
    pieces = await blobs.open(KEY)
    await blobs.delete(KEY)
    with pytest.raises(BlobMissing):
        await anext(pieces)


async def test_a_key_outside_the_grammar_and_a_link_send_nothing(server, upload, tmp_path):
    async with front_before(server) as front, blobs_at(server.url(port=front.port)) as blobs:
        source = upload(b"x")
        for key in ("", "a", "../a", "a/..", "a/b/c", "a/b?acl", "a/%2e%2e", "A/b"):
            for attempt in (blobs.put(key, source), blobs.open(key), blobs.size(key), blobs.delete(key)):
                with pytest.raises(BadBlobKey):
                    await attempt
        link = tmp_path / "link"
        link.symlink_to(source)
        with pytest.raises(OSError, match="symbolic links"):
            await blobs.put(KEY, link)
        assert source.exists()
        assert front.seen == []


async def test_what_was_stored_before_a_moment_is_found_below_the_prefix_only(blobs, server, upload):
    keys = {f"ten_{number % 3}/file_{number}" for number in range(12)}
    await asyncio.gather(*(blobs.put(key, upload(b"x")) for key in keys))
    (server.root / "files" / "elsewhere").mkdir()
    (server.root / "files" / "elsewhere" / "file_x").touch()
    (server.home / "ten_0" / "no-key.txt").touch()
    assert {key async for key in blobs.stored_before(time.time() + 60)} == keys
    assert {key async for key in blobs.stored_before(time.time() - 3600)} == set()
    (server.home / "ten_0" / "no-key.txt").unlink()


async def test_a_wrong_key_or_bucket_is_the_operators_fault_and_says_nothing(server, upload):
    for url in (server.url(secret="wrong"), server.url(bucket="absent")):
        async with blobs_at(url) as blobs:
            source = upload(b"x")
            with pytest.raises(StorageUnavailable) as refusal:
                await blobs.put(KEY, source)
            assert (refusal.value.status, refusal.value.code) == (503, "unavailable")
            assert source.exists()


async def test_a_server_that_cannot_be_reached_is_unavailable(upload):
    url = Secret("s3://a:b@127.0.0.1:9/files?tls=off")
    async with blobs_at(url) as blobs:
        for attempt in (blobs.put(KEY, upload(b"x")), blobs.size(KEY), blobs.delete(KEY)):
            with pytest.raises(StorageUnavailable):
                await attempt


async def test_passing_faults_are_overcome(server, upload):
    content = secrets.token_bytes(LARGE)
    faults = [
        ("uploads=", "status 503"),
        ("partNumber=2", "status 500"),
        ("partNumber=2", "lost"),
        ("POST", "lost"),
        ("HEAD", "lost"),
        ("GET", "cut 70000"),
        ("GET", "status 502"),
        ("DELETE", "status 429"),
    ]
    async with front_before(server) as front, blobs_at(server.url(port=front.port)) as blobs:
        front.faults = faults[:3]
        await blobs.put(KEY, upload(content))
        assert front.faults == []
        front.faults = [("uploadId=", "status 503"), *faults[4:7]]
        await blobs.put("ten_a/file_2", upload(content))
        assert await read(blobs, KEY) == content
        assert front.faults == []
        front.faults = faults[7:]
        await blobs.delete(KEY)
        assert front.faults == []
        assert not (server.home / KEY).exists()
        await blobs.delete("ten_a/file_2")


async def test_an_upload_that_was_joined_but_not_answered_is_stored(server, upload):
    content = secrets.token_bytes(LARGE)
    async with front_before(server) as front, blobs_at(server.url(port=front.port)) as blobs:
        front.faults = [("POST /files/kept/here/ten_a/file_1?uploadId=", "lost")]
        await blobs.put(KEY, upload(content))
        assert front.faults == []
        assert await read(blobs, KEY) == content
        await blobs.delete(KEY)


async def test_lasting_faults_end_and_leave_no_half_upload(server, upload):
    content = secrets.token_bytes(LARGE)
    async with front_before(server) as front, blobs_at(server.url(port=front.port)) as blobs:
        source = upload(content)
        front.faults = [("partNumber=2", "status 503")] * 3
        with pytest.raises(StorageUnavailable):
            await blobs.put(KEY, source)
        assert source.exists()
        assert front.seen[-1].startswith("DELETE /files/kept/here/ten_a/file_1?uploadId=")
        assert not (server.home / KEY).exists()
        await blobs.put(KEY, source)
        front.faults = [("GET", "cut 30000")] * 3
        with pytest.raises(StorageUnavailable):
            await read(blobs, KEY)
        await blobs.delete(KEY)


async def test_an_answer_without_end_is_unavailable(server, upload):
    async with front_before(server) as front, blobs_at(server.url(port=front.port)) as blobs:
        await blobs.put(KEY, upload(b"content"))
        front.faults = [("GET", "flood")] * 3
        with pytest.raises(StorageUnavailable):
            await read(blobs, KEY)
        front.faults = [("DELETE", "flood")] * 3
        with pytest.raises(StorageUnavailable):
            await blobs.delete(KEY)
        await blobs.delete(KEY)


async def test_a_reader_that_stops_early_leaves_no_connection(server, upload):
    async with blobs_at(server.url()) as blobs:
        await blobs.put(KEY, upload(secrets.token_bytes(LARGE)))
        reading = await blobs.open(KEY)
        await anext(reading)
        await reading.aclose()
        assert await blobs.size(KEY) == LARGE
        await blobs.delete(KEY)


async def test_uploads_that_a_crash_cut_off_are_discarded_when_they_are_old(blobs, server):
    begun = await blobs._calls.call("POST", KEY, {"uploads": ""})
    upload_id = parse_s3_xml(begun.content).fields["UploadId"]
    await blobs._calls.call("PUT", KEY, {"partNumber": "1", "uploadId": upload_id}, b"x")

    async def is_there() -> bool:
        query = {"uploadId": upload_id}
        listed = await blobs._calls.call("GET", KEY, query, expected=frozenset({200, 404}))
        return listed.status == 200

    await blobs.discard_unfinished(time.time() - 3600)
    assert await is_there()
    await blobs.discard_unfinished(time.time() + 3600)
    assert not await is_there()


def test_the_setting_is_read_and_what_is_wrong_with_it_is_said_without_its_secret():
    amazon = parse_s3_url(Secret("s3://AK:hush%2F@s3.eu-central-1.amazonaws.com/my.bucket"))
    assert (amazon.home, amazon.region, amazon.prefix) == (
        "https://s3.eu-central-1.amazonaws.com/my.bucket",
        "eu-central-1",
        "",
    )
    assert (amazon.host, amazon.port, amazon.keys.access_key_id) == (
        "s3.eu-central-1.amazonaws.com",
        443,
        "AK",
    )
    assert amazon.keys.secret_access_key.reveal() == "hush/"
    own = parse_s3_url(Secret("s3://AK:hush@[::1]:9000/files/a/b/?tls=off&region=auto"))
    assert (own.home, own.host, own.port) == ("http://[::1]:9000/files", "[::1]", 9000)
    assert (own.prefix, own.region) == ("a/b/", "auto")
    for wrong in (
        "https://AK:hush@host/bucket",
        "s3://host/bucket",
        "s3://AK@host/bucket",
        "s3://AK:hush@/bucket",
        "s3://AK:hush@host",
        "s3://AK:hush@host/",
        "s3://AK:hush@host:99999/bucket",
        "s3://AK:hush@host/bucket/../other",
        "s3://AK:hush@host/bucket?acl=public",
        "s3://AK:hush@host/bucket?tls=maybe",
        "s3://AK:hush@host/bucket?region=EU/1",
        "s3://AK:hush@host/bucket#x",
        "s3://AK:hush@host/buck et",
        "s3://AK:hu/sh@host/bucket",
        "nonsense",
    ):
        with pytest.raises(BadSetting, match=r"^RETINUE_FILES_URL ") as refusal:
            parse_s3_url(Secret(wrong))
        assert "hush" not in str(refusal.value)


def test_answers_that_are_not_the_protocol_are_refused():
    for content in (b"", b"<a>", b"not xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'):
        with pytest.raises(InvalidStorageResponse):
            parse_s3_xml(content)
        assert error_code(content) == ""
    assert error_code(b"<Error><Code>NoSuchKey</Code></Error>") == "NoSuchKey"
    assert error_code(b"<Other><Code>NoSuchKey</Code></Other>") == ""
