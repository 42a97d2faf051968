"""The files API: uploaded, described, listed, read in parts, and gone when deleted."""

import hashlib

import pytest

from tests.factories.happenings import events, only_event
from tests.factories.uploads import picture

KEYS = {"file_id", "filename", "size_bytes", "mime_type", "purpose", "sha256", "created_at", "expires_at"}
TEXT = b"0123456789"


def list_stored(service) -> list[str]:
    return sorted(path.name for path in (service.settings.data_dir / "files").glob("*/*"))


@pytest.fixture
async def report(files):
    return await files.upload("Ünï\u202e/..\\report.pdf", b"%PDF-1.7 x", "chat")


async def test_an_uploaded_file_is_described(people, files, report):
    id = report["file_id"]
    assert id.startswith("file_")
    assert report == {
        "file_id": id,
        "filename": "report.pdf",
        "size_bytes": 10,
        "mime_type": "application/pdf",
        "purpose": "chat",
        "sha256": hashlib.sha256(b"%PDF-1.7 x").hexdigest(),
        "created_at": report["created_at"],
        "expires_at": report["expires_at"],
    }
    assert (await files.get(id)).json() == {"data": report}
    (uploaded,) = await events(people, "system.file.uploaded")
    assert (uploaded.data["file_id"], uploaded.data["size_bytes"]) == (id, 10)


async def test_the_content_of_a_file_is_a_download_that_no_browser_runs_or_keeps(files, report):
    answer = await files.content(report["file_id"])
    assert (answer.status, answer.body) == (200, b"%PDF-1.7 x")
    assert "x-ratelimit-limit" in answer.headers
    expected = {
        "content-type": "application/pdf",
        "content-disposition": "attachment; filename*=UTF-8''report.pdf",
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    assert {name: answer.headers[name] for name in expected} == expected


async def test_a_deleted_file_is_gone_and_a_day_later_its_bytes_are(service, people, files, report, clock):
    id = report["file_id"]
    assert list_stored(service) == [id]
    assert (await files.delete(id)).status == 204
    assert (await only_event(people, "system.file.deleted"))["filename"] == "report.pdf"
    for gone in (await files.get(id), await files.content(id), await files.delete(id)):
        assert (gone.status, gone.code) == (404, "file_not_found")
    clock.advance(24 * 3600 + 1)
    await service.runner.drain()
    assert list_stored(service) == []


async def test_files_are_listed_by_purpose_type_name_and_age(files, clock):
    old = (await files.upload("old.txt", purpose="tool"))["file_id"]
    clock.advance(300)
    middle = clock.now()
    clock.advance(300)
    new = (await files.upload("new.png", picture(), purpose=None))["file_id"]
    expected = {
        (): [new, old],
        (("sort", "created_at"),): [old, new],
        (("sort", "size_bytes"),): [old, new],
        (("purpose", "tool"),): [old],
        (("purpose", "chat"),): [new],
        (("mime_type", "image/png"),): [new],
        (("search", "OLD"),): [old],
        (("from", middle),): [new],
        (("to", middle),): [old],
        (("page", 2), ("per_page", 1)): [old],
    }
    for query, found in expected.items():
        assert await files.list(**dict(query)) == found, query
    answer = await files.person.get(files.PATH)
    assert answer.json()["pagination"] == {"page": 1, "per_page": 20, "total": 2, "total_pages": 1}
    for query in ({"purpose": "x"}, {"sort": "sha256"}, {"from": "yesterday"}, {"page": 0}):
        assert (await files.person.get(files.PATH, query=query)).status == 422, query


async def test_what_may_not_be_uploaded_is_refused_and_leaves_nothing(service, files):
    html, mib = b"<!doctype html><script>alert(1)</script>", 1024 * 1024
    refused = [
        ("x.png", html, "chat", 415),
        ("x", html, "chat", 415),
        ("x.png\0.html", picture(), "chat", 415),
        ("x.txt", html, "form", 415),
        ("x.svg", b"\x7fELF" + bytes(60), "chat", 415),
        ("x.pdf", b"PK\x03\x04" + bytes(30), "chat", 415),
        ("x.jpg", b"%PDF-1.7", "chat", 415),
        ("x.php", b"<?php echo 1;", "tool", 415),
        ("tool", b"\x7fELF" + bytes(60), "tool", 415),
        ("empty.txt", b"", "chat", 415),
        ("x.xlsx", b"PK\x03\x04", "knowledge", 415),
        ("x.txt", b"not a picture", "avatar", 415),
        ("x.png", picture()[:40], "avatar", 422),
        ("x.txt", b"x", "other", 422),
        ("x.txt", b"x", "", 422),
        ("x.py", bytes(mib + 1), "tool", 413),
    ]
    for filename, content, purpose, status in refused:
        answer = await files.send(filename, content, purpose)
        assert answer.status == status, (filename, purpose, answer)
        assert answer.code in {"unsupported_file_type", "validation_error", "file_too_large"}
    nothing = await files.person.post(files.PATH, files={}, fields={"purpose": "chat"})
    assert (nothing.status, set(nothing.details)) == (422, {"file"})
    wrong = await files.person.post(files.PATH, {"file": "x"})
    assert (wrong.status, wrong.code) == (415, "unsupported_media_type")
    assert await files.list() == []
    assert list_stored(service) == []
    assert list((service.settings.data_dir / "tmp").iterdir()) == []


async def test_active_content_is_kept_as_bytes_without_a_type_and_an_avatar_is_made_anew(api, files):
    page = await files.upload("page.html", b"<html><script>alert(1)</script></html>")
    script = await files.upload("run", b"#!/usr/bin/env python3\nprint(1)", "tool")
    for made in (page, script):
        assert made["mime_type"] == "application/octet-stream"
        answer = await files.content(made["file_id"])
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
    avatar = await files.upload("me.png", picture(), "avatar")
    assert (avatar["filename"], avatar["mime_type"]) == ("avatar.webp", "image/webp")
    shown = await api.get(f"/api/v1/public/avatars/{avatar['file_id']}")
    assert (shown.status, shown.body[:4]) == (200, b"RIFF")
    assert (await api.get(f"/api/v1/public/avatars/{page['file_id']}")).status == 404


@pytest.mark.either_database
async def test_parts_are_read_by_range(files):
    id = (await files.upload("a.txt", TEXT))["file_id"]
    tag = f'"{hashlib.sha256(TEXT).hexdigest()}"'
    parts = {
        "bytes=0-0": (206, b"0", "bytes 0-0/10"),
        "bytes=2-4": (206, b"234", "bytes 2-4/10"),
        "bytes=7-": (206, b"789", "bytes 7-9/10"),
        "bytes=-3": (206, b"789", "bytes 7-9/10"),
        "bytes=-99": (206, TEXT, "bytes 0-9/10"),
        "bytes=5-999": (206, b"56789", "bytes 5-9/10"),
        "bytes=10-": (416, None, "bytes */10"),
        "bytes=-0": (416, None, "bytes */10"),
        "bytes=99999999999999999-": (416, None, "bytes */10"),
        "bytes=4-2": (200, TEXT, None),
        "bytes=0-1,3-4": (200, TEXT, None),
        "lines=0-1": (200, TEXT, None),
        "bytes=a-b": (200, TEXT, None),
        "bytes=\N{SUPERSCRIPT TWO}-": (200, TEXT, None),
    }
    for range, (status, body, described) in parts.items():
        answer = await files.content(id, headers={"Range": range})
        assert answer.status == status, (range, answer)
        assert answer.headers.get("content-range") == described, range
        if body is None:
            assert answer.code == "range_not_satisfiable"
        else:
            assert answer.body == body, range
            assert answer.headers["content-length"] == str(len(body))
            assert (answer.headers["etag"], answer.headers["accept-ranges"]) == (tag, "bytes")
    for condition, status in ((tag, 206), ('"other"', 200), ("Sun, 15 Nov 2026 12:00:00 GMT", 200)):
        headers = {"Range": "bytes=0-0", "If-Range": condition}
        assert (await files.content(id, headers=headers)).status == status, condition
    measured = await files.person.request(
        "HEAD", f"{files.PATH}/{id}/content", headers={"Range": "bytes=0-4"}
    )
    assert (measured.status, measured.body, measured.headers["content-length"]) == (206, b"", "5")


async def test_members_find_their_own_files_and_developers_everyones(people, files, files_of):
    member, other = [await files_of("agent_user") for _ in range(2)]
    stranger = await files_of("tenant_admin", await people.tenant("Elsewhere"))
    own, hers = await member.upload("own.txt"), await other.upload("hers.txt")
    assert await member.list() == [own["file_id"]]
    assert await files.list(sort="created_at") == [own["file_id"], hers["file_id"]]
    assert await stranger.list() == []
    for person in (member, stranger):
        for call in (person.get, person.content, person.share, person.delete):
            answer = await call(hers["file_id"])
            assert (answer.status, answer.code) == (404, "file_not_found")
    assert (await files.content(hers["file_id"])).body == b"hello"


async def test_viewers_neither_read_nor_write_files(files_of):
    member, viewer = await files_of("agent_user"), await files_of("viewer")
    own = await member.upload("own.txt")
    for call in (viewer.get, viewer.content, viewer.share, viewer.delete):
        assert (await call(own["file_id"])).status == 403
    assert (await viewer.send("x.txt", b"x")).details["required"] == "files:write"


async def test_members_delete_their_own_files_and_developers_everyones(files, files_of):
    member, other = [await files_of("agent_user") for _ in range(2)]
    own, hers = await member.upload("own.txt"), await other.upload("hers.txt")
    forced = await member.delete(own["file_id"], force="true")
    assert (forced.status, forced.details["required"]) == (403, "agents:write")
    assert (await member.delete(own["file_id"])).status == 204
    assert (await files.delete(hers["file_id"])).status == 204


async def test_an_upload_that_is_repeated_with_its_key_is_stored_once(service, files):
    first = await files.send("a.txt", TEXT, headers={"Idempotency-Key": "one"})
    again = await files.send("a.txt", TEXT, headers={"Idempotency-Key": "one"})
    assert (first.status, again.status, again.json()) == (201, 201, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert len(list_stored(service)) == 1
