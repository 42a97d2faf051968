"""Avatars: taken within limits, made anew, public by their address, and gone when replaced."""

import asyncio
import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image

from retinue.files.models import File
from tests.factories.happenings import events, only_event

pytestmark = pytest.mark.either_database

MIB = 1024 * 1024


def picture(format: str = "PNG", size: tuple[int, int] = (600, 400), **options) -> bytes:
    content = BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(content, format, **options)
    return content.getvalue()


def png_bomb() -> bytes:
    """A valid header of 50,000 by 50,000 pixels in front of very little."""
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    content = zlib.compress(b"\0" * 1_000_000)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in ((b"IHDR", header), (b"IDAT", content), (b"IEND", b""))
    )


async def upload(api, content: bytes, *, filename="me.png", mime_type="image/png", field="avatar"):
    return await api.post("/api/v1/profile/avatar", files={field: (filename, content, mime_type)})


def path_of(answer) -> str:
    assert answer.status == 200, answer
    url = answer.json()["avatar_url"]
    assert url.startswith("http://127.0.0.1:8080/api/v1/public/avatars/file_")
    return url.removeprefix("http://127.0.0.1:8080")


def blobs(service) -> list[str]:
    return [path.name for path in (service.settings.data_dir / "files").glob("*/*")]


@pytest.fixture
def remove_bytes(service, clock):
    """Let the day pass after which deleted files lose their bytes."""

    async def run() -> None:
        clock.advance(24 * 3600 + 1)
        await service.runner.drain()

    return run


@pytest.fixture
async def viewer(people):
    return await people.signed_in("viewer")


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP"])
async def test_a_picture_becomes_a_public_square_webp(api, viewer, format):
    answer = await upload(viewer, picture(format))
    assert set(answer.json()) == {"avatar_url", "message"}
    shown = await api.get(path_of(answer))
    assert shown.status == 200
    expected = {
        "content-type": "image/webp",
        "content-length": str(len(shown.body)),
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "public, max-age=31536000, immutable",
    }
    assert {name: shown.headers[name] for name in expected} == expected
    assert shown.headers["content-disposition"].startswith("inline")
    made = Image.open(BytesIO(shown.body), formats=["WEBP"])
    assert made.size == (400, 400)
    profile = (await viewer.get("/api/v1/profile")).json()
    assert profile["avatar_url"] == answer.json()["avatar_url"]


async def test_where_a_picture_was_taken_is_not_kept(api, viewer):
    exif = Image.Exif()
    exif[0x010E] = "CANARY-52.52N"
    content = picture("JPEG", exif=exif)
    assert b"CANARY" in content
    shown = await api.get(path_of(await upload(viewer, content)))
    assert b"CANARY" not in shown.body


async def test_a_new_picture_takes_the_place_of_the_old_one(service, api, people, viewer, remove_bytes):
    old = path_of(await upload(viewer, picture()))
    new = path_of(await upload(viewer, picture(size=(80, 80))))
    assert old != new
    assert (await api.get(old)).code == "file_not_found"
    assert (await api.get(new)).status == 200
    await remove_bytes()
    assert blobs(service) == [new.rpartition("/")[2]]
    changed = await events(people, "system.user.updated")
    assert [one.data["changed"] for one in changed] == [["avatar"], ["avatar"]]


async def test_of_pictures_sent_at_once_one_is_left(service, people, viewer, remove_bytes):
    answers = await asyncio.gather(*(upload(viewer, picture(size=(64, 64))) for _ in range(3)))
    assert [answer.status for answer in answers] == [200, 200, 200]
    url = (await viewer.get("/api/v1/profile")).json()["avatar_url"]
    await remove_bytes()
    assert blobs(service) == [url.rpartition("/")[2]]
    async with people.context(viewer.user.tenant_id) as ctx:
        assert await ctx.db.count(File) == 1


async def test_a_repeated_upload_with_the_same_key_is_the_same_picture(service, viewer):
    files = {"avatar": ("me.png", picture(), "image/png")}
    headers = {"Idempotency-Key": "once"}
    first, again = [
        await viewer.post("/api/v1/profile/avatar", files=files, headers=headers) for _ in range(2)
    ]
    assert again.headers["idempotent-replayed"] == "true"
    assert first.json() == again.json()
    assert len(blobs(service)) == 1


async def test_a_picture_is_removed_with_its_bytes(service, api, people, viewer, remove_bytes):
    path = path_of(await upload(viewer, picture()))
    answer = await viewer.delete("/api/v1/profile/avatar")
    assert answer.status == 200
    assert set(answer.json()) == {"message"}
    assert (await viewer.get("/api/v1/profile")).json()["avatar_url"] is None
    assert (await api.get(path)).status == 404
    assert (await viewer.delete("/api/v1/profile/avatar")).status == 200
    assert len(await events(people, "system.user.updated")) == 2
    await remove_bytes()
    assert blobs(service) == []


async def test_a_picture_whose_bytes_are_lost_is_not_found(service, api, viewer):
    path = path_of(await upload(viewer, picture()))
    (blob,) = (service.settings.data_dir / "files").glob("*/*")
    blob.unlink()
    answer = await api.get(path)
    assert (answer.status, answer.code) == (404, "file_not_found")


async def test_a_deleted_users_picture_goes_too(service, api, admin, viewer, remove_bytes):
    path = path_of(await upload(viewer, picture()))
    assert (await admin.delete(f"/users/{viewer.user.id}")).status == 200
    assert (await api.get(path)).status == 404
    await remove_bytes()
    assert blobs(service) == []


async def test_a_picture_of_two_mebibytes_is_taken_and_one_byte_more_is_not(service, viewer):
    content = picture()
    full = content + b"\0" * (2 * MIB - len(content))
    assert (await upload(viewer, full)).status == 200
    answer = await upload(viewer, full + b"\0")
    assert (answer.status, answer.code) == (413, "file_too_large")
    assert list((service.settings.data_dir / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (picture("GIF"), "image/gif"),
        (picture("GIF"), "image/png"),
        (picture("TIFF"), "image/png"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "image/svg+xml"),
        (b"<!doctype html><script>alert(1)</script>", "image/png"),
        (b"", "image/png"),
        (b"MZ" + b"\0" * 500, "image/jpeg"),
    ],
)
async def test_what_is_no_png_jpeg_or_webp_is_refused_whatever_it_says_it_is(
    service, viewer, content, mime_type
):
    answer = await upload(viewer, content, mime_type=mime_type)
    assert (answer.status, answer.code) == (415, "unsupported_file_type")
    assert blobs(service) == []


@pytest.mark.parametrize("content", [png_bomb(), picture()[:200], b"\xff\xd8\xff" + b"\0" * 2000])
async def test_bombs_and_broken_pictures_are_refused(service, viewer, content):
    answer = await upload(viewer, content)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == ["avatar"]
    assert blobs(service) == []
    assert (await viewer.get("/api/v1/profile")).json()["avatar_url"] is None


async def test_a_picture_is_sent_as_the_file_avatar(viewer):
    elsewhere = await upload(viewer, picture(), field="file")
    assert (elsewhere.status, list(elsewhere.details)) == (422, ["avatar"])
    json = await viewer.post("/api/v1/profile/avatar", {"avatar": "x"})
    assert (json.status, json.code) == (415, "unsupported_media_type")
    two = {"avatar": ("a.png", picture(), "image/png"), "other": ("b.png", picture(), "image/png")}
    many = await viewer.post("/api/v1/profile/avatar", files=two)
    assert (many.status, many.code) == (413, "file_too_large")


@pytest.mark.parametrize(
    "filename", ["../../etc/cron.d/x", "..\\..\\x.png", "/etc/passwd", "x" * 5000, "CON"]
)
async def test_a_files_name_means_nothing(service, api, viewer, filename):
    shown = await api.get(path_of(await upload(viewer, picture(), filename=filename)))
    assert shown.headers["content-disposition"] == "inline; filename*=UTF-8''avatar.webp"
    assert len(blobs(service)) == 1
    assert blobs(service)[0].startswith("file_")


async def test_a_change_of_picture_is_told_once(people, viewer):
    await upload(viewer, picture())
    told = await only_event(people, "system.user.updated")
    assert told == {"user_id": viewer.user.id, "changed": ["avatar"]}


async def test_it_takes_a_signed_in_user(api):
    assert (await upload(api, picture())).status == 401
    assert (await api.delete("/api/v1/profile/avatar")).status == 401
