"""Uploads through the whole pipeline: their limits, their type, and what is left of them."""

import asyncio
import os
import time

import pytest

from retinue import app
from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.http.uploads import sweep_spool
from tests.client import Api, multipart
from tests.kit.idempotency import notes
from tests.kit.planted import PATIENCE_S, Exchange

UPLOADS = "/planted/uploads"
FORM = ("Content-Type", "multipart/form-data; boundary=XXtestXX")
SMALL = multipart({"file": ("a.txt", b"hello", "text/plain")}, {})


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest))


@pytest.fixture(autouse=True)
def nothing_is_left(service):
    yield
    assert list_spool(service) == []


def list_spool(service: Service) -> list[str]:
    return [path.name for path in (service.settings.data_dir / "tmp").glob("*")]


def open_upload(service, me: Api, *headers: tuple[str, str]) -> Exchange:
    return Exchange(service, "POST", UPLOADS, [("Authorization", f"Bearer {me.token}"), *headers])


async def test_a_file_arrives_whole(me, people):
    content = os.urandom(100_000)
    answer = await me.post(UPLOADS, files={"file": ("a.bin", content, "application/octet-stream")})
    assert (answer.status, answer.json()["filename"]) == (201, "a.bin")
    assert await notes(people) == 1


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        ({"file": ("a.bin", bytes(100_001), "text/plain")}, {}),
        ({f"file{number}": ("a.bin", b"", "text/plain") for number in range(3)}, {}),
        ({f"file{number}": ("a.bin", bytes(100_000), "text/plain") for number in range(5)}, {}),
        ({}, {"note": "x" * 65_537}),
        ({}, {f"note{number}": "" for number in range(101)}),
        ({"file": ("a" * 9_000, b"", "text/plain")}, {}),
    ],
    ids=["file", "files", "total", "field", "fields", "part header"],
)
async def test_whatever_limit_an_upload_passes_it_is_too_large(me, people, planted, files, fields):
    answer = await me.post(UPLOADS, files=files, fields=fields)
    assert (answer.status, answer.code) == (413, "file_too_large")
    assert (planted.runs, await notes(people)) == (0, 0)


async def test_an_upload_that_is_too_large_is_refused_before_it_is_all_here(service, me):
    exchange = open_upload(service, me, FORM)
    exchange.send(SMALL.replace(b"hello", bytes(100_001)))
    answer = await exchange.answer()
    assert (answer.status, answer.code) == (413, "file_too_large")


@pytest.mark.parametrize(
    "types",
    [
        ["application/json"],
        ["text/plain"],
        ["application/x-www-form-urlencoded"],
        ["multipart/mixed; boundary=XXtestXX"],
        ["multipart/form-data"],
        ["multipart/form-data; boundary="],
        ["multipart/form-data; boundary=" + "b" * 71],
        ["multipart/form-data; boundary=" + "b" * 1_000_000],
        [FORM[1], FORM[1]],
        ["application/json", FORM[1]],
        [FORM[1], "application/json"],
        [],
    ],
    ids=lambda types: " + ".join(type[:40] for type in types) or "missing",
)
async def test_what_is_no_form_is_refused_unread(service, me, planted, types):
    exchange = open_upload(service, me, *(("Content-Type", type) for type in types))
    answer = await exchange.answer()
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert not exchange.asked_for_body.is_set()
    assert planted.runs == 0


@pytest.mark.parametrize("types", [["application/json", "text/plain"], ["text/plain", "application/json"]])
async def test_a_json_body_has_one_type_as_well(service, me, types):
    sent = [("Authorization", f"Bearer {me.token}"), *(("Content-Type", type) for type in types)]
    exchange = Exchange(service, "POST", "/planted/notes", sent)
    exchange.send(b'{"name":"a"}', more=False)
    assert (await exchange.answer()).status == 415


async def test_json_in_place_of_a_form_opens_no_file(me, planted):
    path = {"filepath": "/etc/passwd", "path": "/etc/passwd"}
    for body in ({"file": path}, {"files": {"file": path}}):
        assert (await me.post(UPLOADS, body)).status == 415
    assert planted.runs == 0


@pytest.mark.parametrize("content", [b"", b"no form", SMALL[:-4], SMALL.replace(b"form-data", b"attachment")])
async def test_a_malformed_form_is_invalid(me, planted, content):
    answer = await me.request("POST", UPLOADS, content=content, headers=dict([FORM]))
    assert (answer.status, answer.code) == (422, "validation_error")
    assert planted.runs == 0


async def test_a_form_without_its_file_is_invalid(me):
    answer = await me.post(UPLOADS, files={}, fields={"file": "no file"})
    assert (answer.status, set(answer.details)) == (422, {"file"})


async def test_a_retry_with_its_key_stores_nothing_again(me, planted, people):
    headers = {"Idempotency-Key": "key"}
    files = {"file": ("a.txt", b"hello", "text/plain")}
    first, second = [await me.post(UPLOADS, files=files, headers=headers) for _ in range(2)]
    assert (second.status, second.body, second.headers["idempotent-replayed"]) == (201, first.body, "true")
    assert (planted.runs, await notes(people)) == (1, 1)


async def test_a_slow_upload_keeps_nobody_from_writing(service, me, people):
    exchange = open_upload(service, me, FORM)
    for piece in (SMALL[:20], SMALL[20:-30]):
        exchange.send(piece)
        await exchange.is_reading()
        async with asyncio.timeout(PATIENCE_S):
            assert (await me.post("/planted/notes", {"name": "meanwhile"})).status == 201
    assert await notes(people) == 2
    exchange.send(SMALL[-30:], more=False)
    assert (await exchange.answer()).status == 201
    assert await notes(people) == 3


async def test_a_client_that_leaves_in_the_middle_leaves_nothing(service, me, planted):
    exchange = open_upload(service, me, FORM)
    exchange.send(SMALL.replace(b"hello", bytes(90_000))[:-16])
    await exchange.is_reading()
    assert len(list_spool(service)) == 1
    exchange.leave()
    assert await exchange.answer() is None
    assert planted.runs == 0


async def test_a_handler_that_fails_leaves_nothing(service, me, monkeypatch, planted):
    monkeypatch.setattr("tests.kit.planted.store", None)
    answer = await me.post(UPLOADS, files={"file": ("a.txt", b"hello", "text/plain")})
    assert (answer.status, planted.runs) == (500, 1)


def write_spooled(folder, name: str, age_s: float):
    path = folder / name
    path.write_bytes(b"left by a crash")
    os.utime(path, times=(time.time() - age_s, time.time() - age_s))
    return path


def test_the_sweep_removes_what_is_old_and_only_that(tmp_path):
    folder = tmp_path / "spool"
    folder.mkdir()
    old, young = write_spooled(folder, "old", 4000), write_spooled(folder, "young", 3000)
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "folder").mkdir()
    os.utime(folder / "link", times=(0, 0), follow_symlinks=False)
    os.utime(folder / "folder", times=(0, 0))
    (tmp_path / "elsewhere").write_bytes(b"kept")
    sweep_spool(folder, 3600)
    assert sorted(path.name for path in folder.iterdir()) == ["folder", "young"]
    assert (old.exists(), young.exists(), (tmp_path / "elsewhere").exists()) == (False, True, True)


def test_a_spool_that_was_never_used_is_no_fault(tmp_path):
    sweep_spool(tmp_path / "nowhere", 0)
    assert not (tmp_path / "nowhere").exists()


async def test_a_start_removes_what_a_crash_has_left(service, clock, planted, monkeypatch):
    folder = service.settings.data_dir / "tmp"
    folder.mkdir(exist_ok=True)
    old, young = write_spooled(folder, "a" * 32, 4000), write_spooled(folder, "b" * 32, 10)
    monkeypatch.setattr(app, "_SANDBOX_PROBE_DELAY_SECONDS", 0)
    again = Service(service.settings, clock)
    await again.start()
    # As the command does once requests are taken: a start does not wait for it.
    await asyncio.wait_for(again.probe_sandboxes(), 10 * PATIENCE_S)
    await again.stop()
    assert (old.exists(), young.exists()) == (False, True), "the young one may be another process's"
    young.unlink()
