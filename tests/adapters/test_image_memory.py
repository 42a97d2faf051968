"""Pictures that are made to take memory: two of them fit beside the server in 2 GB, whatever their format."""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from retinue.adapters.images import MAX_PIXELS, TOO_LARGE
from retinue.adapters.sandbox.readers import reader_command
from retinue.kit import subprocesses
from tests.sampling import sample_cases

MAX_MEGABYTES = 512
_PROGRAM = "retinue.adapters.images.child.model_image"
LARGE, WEBP = (7070, 7070), (4999, 5000)
UNREADABLE = 4

CASES: list[tuple[str, str, tuple[int, int], dict[str, Any]]] = [
    ("WEBP", "RGBA", WEBP, {"lossless": True}),
    ("PNG", "RGBA", LARGE, {"compress_level": 1}),
    ("JPEG", "RGB", LARGE, {"progressive": True, "subsampling": 0}),
    ("WEBP", "RGB", WEBP, {"quality": 10, "method": 0}),
    ("PNG", "LA", LARGE, {"compress_level": 1}),
    ("PNG", "RGB", LARGE, {"compress_level": 1, "transparency": (0, 0, 0)}),
    ("PNG", "I;16", LARGE, {"compress_level": 1}),
    ("PNG", "LA", (62_000, 800), {"compress_level": 1}),
    ("GIF", "P", LARGE, {"transparency": 0}),
    ("JPEG", "CMYK", LARGE, {"progressive": True, "subsampling": 0}),
    ("JPEG", "CMYK", (62_000, 800), {"subsampling": 0}),
]


def picture(format: str, mode: str, size: tuple[int, int], **options: Any) -> bytes:
    content = BytesIO()
    Image.new(mode, size).save(content, format, **options)
    return content.getvalue()


# A small process in between: the peak of a child includes that of the process that forked it.
LAUNCH = """
import os, subprocess, sys
picture, parent, *command = sys.argv[1:]
command = [str(os.getpid()) if argument == parent else argument for argument in command]
with open(picture, "rb") as source:
    child = subprocess.Popen(
        command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={}, cwd="/"
    )
_, status, used = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
print(child.returncode, used.ru_maxrss)
"""


def convert_picture(content: bytes, folder: Path) -> tuple[int, float]:
    """The exit code of the child and the megabytes that it used at its peak."""
    path = folder / "picture"
    path.write_bytes(content)
    command = reader_command(_PROGRAM, subprocesses.library_path("PIL"), str(MAX_PIXELS))
    ended = subprocess.run(
        [sys.executable, "-c", LAUNCH, str(path), str(os.getpid()), sys.executable, "-I", "-B", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    code, kilobytes = map(int, ended.stdout.split())
    return code, kilobytes / 1024


@pytest.mark.parametrize(("format", "mode", "size", "options"), sample_cases(CASES, keep=CASES[:2]))
def test_a_picture_as_large_as_allowed_is_read_in_half_a_gigabyte(tmp_path, format, mode, size, options):
    code, megabytes = convert_picture(picture(format, mode, size, **options), tmp_path)
    assert code == 0
    assert megabytes < MAX_MEGABYTES


def test_a_webp_of_two_kilobytes_is_refused_by_its_header(tmp_path):
    bomb = picture("WEBP", "RGBA", LARGE, lossless=True)
    assert len(bomb) < 3000
    code, megabytes = convert_picture(bomb, tmp_path)
    assert code == TOO_LARGE
    assert megabytes < 64


@pytest.mark.campaign
def test_what_still_takes_more_ends_inside_its_process(tmp_path):
    bomb = picture("JPEG", "CMYK", (62_000, 800), progressive=True, subsampling=0)
    code, megabytes = convert_picture(bomb, tmp_path)
    assert code == UNREADABLE
    assert megabytes < MAX_MEGABYTES
