"""Avatars come out small, square and anonymous; bombs and broken files end in the child process."""

import asyncio
import errno
import json
import os
import struct
import subprocess
import sys
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from retinue.adapters import images
from retinue.adapters.images import ImageReaderUnavailable, avatar
from retinue.kit.errors import Invalid, UnsupportedFileType
from retinue.kit.fair_queue import NOBODY
from tests.sampling import sample_cases

FORMATS = ["PNG", "JPEG", "WEBP"]
RED, GREEN, BLUE = (220, 20, 20), (20, 200, 20), (20, 20, 220)
BERLIN = b"CANARY-52.5200N-13.4050E"


def encode_picture(picture: Image.Image, format: str, **options) -> bytes:
    content = BytesIO()
    picture.save(content, format, **options)
    return content.getvalue()


def flag(width: int, height: int) -> Image.Image:
    """Three upright stripes, the middle one green and half of the width."""
    picture = Image.new("RGB", (width, height), GREEN)
    picture.paste(RED, (0, 0, width // 4, height))
    picture.paste(BLUE, (width * 3 // 4, 0, width, height))
    return picture


def is_near(one, other) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < 30


@pytest.fixture
def make(tmp_path):
    """The avatar of a file with this content."""

    async def run(content: bytes, name: str = "upload") -> Image.Image:
        path = tmp_path / name
        path.write_bytes(content)
        made = await avatar(path, NOBODY)
        assert made.mime_type == "image/webp"
        picture = Image.open(BytesIO(made.content), formats=["WEBP"])
        picture.load()
        return picture

    return run


async def expect_refusal(making) -> dict:
    with pytest.raises(Invalid) as refusal:
        await making
    return refusal.value.details


@pytest.mark.parametrize("format", FORMATS)
async def test_a_picture_becomes_its_centered_square_of_512_pixels(make, format):
    picture = await make(encode_picture(flag(2000, 1000), format))
    assert (picture.size, picture.mode) == ((512, 512), "RGB")
    assert all(is_near(picture.getpixel(point), GREEN) for point in [(4, 4), (507, 507), (256, 256)])
    tall = await make(encode_picture(flag(1000, 2000), format))
    assert is_near(tall.getpixel((5, 256)), RED)
    assert is_near(tall.getpixel((506, 256)), BLUE)


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (300, 200), (512, 512)])
async def test_a_small_picture_is_not_enlarged(make, size):
    picture = await make(encode_picture(Image.new("RGB", size, RED), "PNG"))
    assert picture.size == (min(size), min(size))


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
async def test_transparency_is_kept(make, format):
    picture = await make(encode_picture(Image.new("RGBA", (600, 600), (220, 20, 20, 0)), format))
    assert picture.mode == "RGBA"
    assert picture.getpixel((100, 100))[3] == 0


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "RGBA"])
async def test_every_kind_of_png_is_read(make, mode):
    grey = (
        Image.new("I;16", (600, 600), 30000)
        if mode == "I;16"
        else Image.new("L", (600, 600), 255).convert(mode)
    )
    picture = (await make(encode_picture(grey, "PNG"))).convert("RGB")
    expected = 30000 // 256 if mode == "I;16" else 255
    assert is_near(picture.getpixel((256, 256)), (expected,) * 3)


async def test_a_cmyk_jpeg_is_read(make):
    picture = await make(encode_picture(Image.new("RGB", (600, 600), RED).convert("CMYK"), "JPEG"))
    assert is_near(picture.getpixel((256, 256)), RED)


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
async def test_of_an_animation_the_first_frame_counts(make, format):
    frames = [Image.new("RGB", (600, 600), color) for color in (RED, GREEN, BLUE)]
    content = encode_picture(frames[0], format, save_all=True, append_images=frames[1:], duration=50)
    assert Image.open(BytesIO(content)).n_frames == 3
    picture = await make(content)
    assert getattr(picture, "n_frames", 1) == 1
    assert is_near(picture.getpixel((256, 256)), RED)


ORIENTATIONS = [("PNG", 6), ("WEBP", 8), *(("JPEG", number) for number in range(1, 9))]


@pytest.mark.parametrize(
    ("format", "orientation"), sample_cases(ORIENTATIONS, keep=[("PNG", 6), ("WEBP", 8), ("JPEG", 5)])
)
async def test_the_picture_is_turned_as_its_camera_was_held(make, format, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    held = flag(900, 600)
    held.paste((250, 250, 10), (0, 0, 900, 80))
    content = encode_picture(held, format, exif=exif)
    upright = ImageOps.fit(ImageOps.exif_transpose(Image.open(BytesIO(content))), (512, 512))
    picture = await make(content)
    points = [(256, 10), (256, 501), (10, 256), (501, 256), (30, 256), (256, 30)]
    assert all(is_near(picture.getpixel(point), upright.getpixel(point)) for point in points)


@pytest.mark.parametrize("format", FORMATS)
async def test_place_comments_profile_and_every_other_note_are_dropped(make, tmp_path, format):
    exif = Image.Exif()
    exif[0x010E] = BERLIN.decode()
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0), 29: BERLIN.decode()}
    options = {"exif": exif, "xmp": b"<x:xmpmeta>" + BERLIN + b"</x:xmpmeta>", "icc_profile": BERLIN * 10}
    if format == "PNG":
        notes = PngInfo()
        notes.add_text("Comment", BERLIN.decode())
        options = {"exif": exif, "pnginfo": notes}
    if format == "JPEG":
        options["comment"] = BERLIN
    content = encode_picture(flag(600, 600), format, **options)
    assert BERLIN in content
    assert Image.open(BytesIO(content)).getexif().get_ifd(0x8825)[29] == BERLIN.decode()
    picture = await make(content)
    made = (await avatar(tmp_path / "upload", NOBODY)).content
    assert BERLIN not in made
    assert not {b"EXIF", b"XMP ", b"ICCP"} & {made[at : at + 4] for at in range(len(made))}
    assert not picture.getexif()


def png(width: int, height: int, body: bytes) -> bytes:
    """A one-bit PNG that says what it likes about its size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


async def test_a_bomb_of_50000_by_50000_pixels_is_refused_from_its_header(make):
    packer = zlib.compressobj(1)
    row = bytes(50_000 // 8 + 1)
    body = b"".join(packer.compress(row * 1000) for _ in range(50)) + packer.flush()
    bomb = png(50_000, 50_000, body)
    assert len(bomb) < 2_000_000
    assert await expect_refusal(make(bomb)) == {"avatar": "must have at most 40 megapixels, or 20 as WebP"}


@pytest.mark.campaign
async def test_the_40_megapixel_line_is_exact_and_a_picture_below_it_is_read(make):
    too_large = {"avatar": "must have at most 40 megapixels, or 20 as WebP"}
    assert await expect_refusal(make(png(40_000_001, 1, b""))) == too_large
    assert await expect_refusal(make(png(2**31 - 1, 2**31 - 1, b""))) == too_large
    huge_webp = b"VP8X" + struct.pack("<II", 10, 0) + (16382).to_bytes(3, "little") * 2
    huge_webp = b"RIFF" + struct.pack("<I", len(huge_webp) + 4) + b"WEBP" + huge_webp
    assert await expect_refusal(make(huge_webp)) == too_large
    picture = await make(
        encode_picture(Image.new("RGBA", (8000, 5000), (*RED, 255)), "PNG", compress_level=1)
    )
    assert is_near(picture.convert("RGB").getpixel((256, 256)), RED)


@pytest.mark.campaign
async def test_a_webp_as_large_as_allowed_fits_into_the_childs_memory(make):
    picture = await make(encode_picture(Image.new("RGBA", (4472, 4472), (*RED, 128)), "WEBP", method=0))
    assert picture.size == (512, 512)


@pytest.mark.parametrize("format", FORMATS)
async def test_a_truncated_file_is_refused_wherever_it_ends(make, format):
    whole = encode_picture(Image.effect_noise((400, 400), 90).convert("RGB"), format)
    for length in (12, 40, len(whole) // 2, len(whole) * 9 // 10):
        assert await expect_refusal(make(whole[:length])) == {"avatar": "is not a readable image"}


@pytest.mark.parametrize("seed", range(4))
async def test_a_file_with_bent_bytes_gives_a_picture_or_a_refusal(make, seed):
    whole = encode_picture(flag(300, 300), FORMATS[seed % 3])
    bent = bytearray(whole)
    for position in range(20 + seed, len(bent), 37):
        bent[position] ^= 0x55
    try:
        picture = await make(bytes(bent))
    except Invalid as refusal:
        assert refusal.details == {"avatar": "is not a readable image"}  # noqa: PT017 - both ends are right
    else:
        assert max(picture.size) <= 512


@pytest.mark.parametrize(
    "content",
    [
        b"<!doctype html><script>alert(1)</script>",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"",
        b"\x89PNG",
        b"RIFF\x00\x00\x00\x00WAVEfmt ",
        encode_picture(Image.new("RGB", (9, 9)), "GIF"),
        encode_picture(Image.new("RGB", (9, 9)), "TIFF"),
        encode_picture(Image.new("RGB", (9, 9)), "BMP"),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"PK\x03\x04" + bytes(40),
    ],
    ids=lambda content: ascii(content[:12]),
)
async def test_what_is_no_png_jpeg_or_webp_is_refused_whatever_its_name(make, content):
    with pytest.raises(UnsupportedFileType) as refusal:
        await make(content, "photo.png")
    assert refusal.value.status == 415


async def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "real").write_bytes(encode_picture(flag(9, 9), "PNG"))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="symbolic links"):
        await avatar(tmp_path / "link", NOBODY)


@pytest.mark.campaign
async def test_several_at_once_all_arrive(make):
    colors = [RED, GREEN, BLUE, RED]
    contents = [encode_picture(Image.new("RGB", (64, 64), color), "PNG") for color in colors]
    made = await asyncio.gather(*(make(content, f"file{n}") for n, content in enumerate(contents)))
    assert all(is_near(picture.getpixel((9, 9)), color) for picture, color in zip(made, colors, strict=True))


@pytest.fixture
def decoder(tmp_path, monkeypatch):
    """Puts a shell script where the child's interpreter belongs."""

    def use(script: str) -> None:
        path = tmp_path / "interpreter"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(path))

    return use


def is_gone(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


async def test_the_child_gets_no_environment_and_no_folder_of_ours(make, decoder, tmp_path, monkeypatch):
    monkeypatch.setenv("RETINUE_MASTER_KEY", "CANARY")
    seen = tmp_path / "seen"
    python = sys.executable
    decoder(f'(/usr/bin/env; pwd; echo $@) > {seen}; exec {python} "$@"')
    await make(encode_picture(flag(9, 9), "PNG"))
    text = seen.read_text()
    assert "CANARY" not in text
    assert "retinue.adapters.images.child.program" in text
    assert "\n/\n" in text


async def test_a_child_that_hangs_is_ended_after_its_wall_time(make, decoder, tmp_path, monkeypatch):
    monkeypatch.setattr(images, "WALL_SECONDS", 0.3)
    decoder(f"echo $$ > {tmp_path}/pid; exec sleep 60")
    assert await expect_refusal(make(b"x")) == {"avatar": "is not a readable image"}
    assert is_gone(int((tmp_path / "pid").read_text()))


async def test_a_cancelled_request_takes_its_child_along(make, decoder, tmp_path):
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    decoder(f"echo $$ > {pipe}; exec sleep 60")
    making = asyncio.create_task(make(b"x"))
    process_id = int(await asyncio.to_thread(pipe.read_text))
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    assert is_gone(process_id)


async def test_a_taken_over_child_can_neither_flood_nor_lie_about_the_type(make, decoder, tmp_path):
    decoder(f"echo $$ > {tmp_path}/pid; exec cat /dev/zero")
    assert await expect_refusal(make(b"x")) == {"avatar": "is not a readable image"}
    assert is_gone(int((tmp_path / "pid").read_text()))
    decoder("echo '<script>alert(1)</script>'")
    with pytest.raises(RuntimeError, match="ended with 0"):
        await make(b"x")


async def test_a_child_that_cannot_start_its_work_is_our_fault_not_the_pictures(make, decoder):
    decoder("exit 1")
    with pytest.raises(RuntimeError, match="ended with 1"):
        await make(encode_picture(flag(9, 9), "PNG"))


def run_attack(attack: str, *, is_confined: bool = True, pass_fds: tuple[int, ...] = ()) -> str:
    """Return the output of a child whose decoder was replaced by an attacker's code."""
    script = f"""
import errno, json, os, resource, socket, sys
from retinue.adapters.images.child import program
from retinue.adapters.sandbox.guest import escape
def attack(*_):
    try:
        print({attack})
    except (OSError, MemoryError) as error:
        print(type(error).__name__, getattr(error, "errno", ""))
    sys.stdout.flush()
    return 0
program.answer = attack
if {is_confined}:
    program.main(str(os.getppid()))
else:
    attack()
"""
    command = [sys.executable, "-I", "-c", script]
    made = subprocess.run(command, env={}, pass_fds=pass_fds, capture_output=True, text=True, check=False)
    return made.stdout + made.stderr


async def test_a_decoder_that_was_taken_over_gets_nowhere(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("CANARY")
    secret.chmod(0o644)
    paths = {"passwd": "/etc/passwd", "a file": str(secret), "itself": "/proc/self/environ"}
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        tries = f"json.dumps(escape.successes({paths!r}, {port}, may_fork=False))"
        found = await asyncio.to_thread(run_attack, tries)
        outside = await asyncio.to_thread(run_attack, tries, is_confined=False)
    assert json.loads(found) == []
    assert {"read passwd", "read a file", "open a network connection"} <= set(json.loads(outside))


@pytest.mark.parametrize(
    ("attempt", "outcome"),
    [
        ("open('/etc/passwd').read()", f"PermissionError {errno.EPERM}"),
        ("os.listdir('/')", f"PermissionError {errno.EPERM}"),
        ("socket.socket(socket.AF_INET)", f"PermissionError {errno.EPERM}"),
        ("os.fork()", f"PermissionError {errno.EPERM}"),
        ("os.kill(os.getppid(), 9)", f"PermissionError {errno.EPERM}"),
        ("bytearray(800 * 1024 * 1024)", "MemoryError"),
        ("resource.getrlimit(resource.RLIMIT_CPU)", "(15, 16)"),
        ("resource.getrlimit(resource.RLIMIT_CORE)", "(0, 0)"),
        ("os.getuid()", str(os.getuid() or 65534)),
    ],
)
def test_each_way_out_is_refused_by_the_kernel(attempt, outcome):
    assert run_attack(attempt).strip() == outcome


async def test_without_confinement_no_picture_is_read(make, decoder):
    decoder("exit 6")
    with pytest.raises(ImageReaderUnavailable) as refusal:
        await make(encode_picture(flag(9, 9), "PNG"))
    assert (refusal.value.status, refusal.value.code) == (503, "sandbox_unavailable")
