"""Recordings that were made to break something."""

import asyncio
import subprocess
import sys

import pytest

from retinue.adapters.embedded.speech.recording_decoder import decode_recording
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.fair_queue import NOBODY
from tests.adapters.recordings import encode_recording, noise, plain_wav, silence, small_silence, tone
from tests.sampling import sample_cases

PLAYLIST = b"#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\nhttp://127.0.0.1:9/secret\n#EXT-X-ENDLIST\n"
FRAME = b"\xff\xfb\x90\x64"

NO_RECORDING = {
    "playlist": PLAYLIST,
    "concat": b"concat:/etc/passwd|/etc/hostname",
    "list": b"ffconcat version 1.0\nfile '/etc/passwd'\n",
    "0xFF": b"\xff" * 100_000,
    "empty": b"",
    "page": b"<html><script>alert(1)</script></html>",
    "program": b"\x7fELF" + bytes(100),
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "mp3 that is an archive": FRAME + bytes(100) + b"PK\x05\x06" + bytes(18),
    "mp3 with a page": b"ID3\x04\0\0\0\0\0\0<script>alert(1)</script>",
    "avif": b"\0\0\0\x1cftypavif" + bytes(100),
}
BROKEN = {
    "playlist behind a tag": b"ID3\x04\0\0\0\0\0\0" + PLAYLIST,
    "playlist in a WAV": b"RIFF\xff\xff\xff\x7fWAVE" + PLAYLIST,
    "frames of 0xFF": FRAME + b"\xff" * 100_000,
    "headers alone": FRAME * 10_000,
    "empty WAV": b"RIFF\0\0\0\0WAVE",
    "WAV without sound": plain_wav(silence(0)),
    "one sample a second": plain_wav(noise(1), rate=1),
    "a billion samples a second": plain_wav(noise(1), rate=1_000_000_000),
    "64 channels": plain_wav(noise(1), channels=64),
    "capture pattern": b"OggS" * 10_000,
    "WebM": b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm" + bytes(1_000),
    "half an MP4": encode_recording(tone(1), "m4a")[:2_000],
    "endless boxes": b"\0\0\0\x10ftypM4A " + b"\0\0\0\x08moov" * 10_000,
}
CONFINED = """
import errno, os, socket
from retinue.adapters.embedded.speech import decoder_program

decoder_program.lock_down()
def refused(attempt):
    try:
        attempt()
    except OSError as error:
        return error.errno in (errno.EPERM, errno.EACCES)
    return False
attempts = (
    lambda: os.open("/etc/passwd", os.O_RDONLY), lambda: os.open("/proc/self/environ", os.O_RDONLY),
    lambda: socket.socket(socket.AF_INET), lambda: socket.socket(socket.AF_UNIX), os.fork,
    lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(1, 0), lambda: os.mkdir("/tmp/x"),
)
os.write(1, repr([refused(attempt) for attempt in attempts]).encode())
"""


@pytest.mark.parametrize("content", NO_RECORDING.values(), ids=NO_RECORDING)
async def test_what_is_no_recording_is_not_even_looked_at(content):
    with pytest.raises(UnsupportedFileType):
        await decode_recording(content, NOBODY)


IN_SHORT = ["playlist in a WAV", "frames of 0xFF", "empty WAV", "a billion samples a second", "endless boxes"]


@pytest.mark.parametrize("name", sample_cases(BROKEN, keep=IN_SHORT))
async def test_what_only_begins_like_a_recording_is_unreadable(name):
    with pytest.raises(Invalid) as refused:
        await decode_recording(BROKEN[name], NOBODY)
    assert refused.value.details == {"audio": "is not a readable recording"}


@pytest.mark.campaign
@pytest.mark.parametrize("content", [small_silence(660), plain_wav(silence(601))], ids=["opus", "wav"])
async def test_a_recording_is_not_listened_to_beyond_ten_minutes(content):
    with pytest.raises(Invalid) as refused:
        await decode_recording(content, NOBODY)
    assert refused.value.details == {"audio": "must not be longer than 10 minutes"}


@pytest.mark.slow
async def test_a_day_of_silence_in_six_megabytes_is_too_long():
    with pytest.raises(Invalid, match="not valid") as refused:
        await decode_recording(small_silence(24 * 3600), NOBODY)
    assert refused.value.details == {"audio": "must not be longer than 10 minutes"}


@pytest.mark.campaign
async def test_ten_minutes_are_decoded_whole():
    assert len(await decode_recording(plain_wav(silence(600)), NOBODY)) == 600 * 16_000 * 2


async def test_tags_that_are_not_utf_8_do_not_hinder():
    tags = b"LIST" + (14).to_bytes(4, "little") + b"INFOINAM" + (2).to_bytes(4, "little") + b"\xff\xe9"
    content = plain_wav(silence(1))
    tagged = content[:36] + tags + content[36:]
    assert (
        len(await decode_recording(tagged[:4] + (len(tagged) - 8).to_bytes(4, "little") + tagged[8:], NOBODY))
        == 16_000 * 2
    )


async def test_more_than_25_megabytes_are_refused():
    with pytest.raises(FileTooLarge):
        await decode_recording(FRAME + bytes(25 * 1024 * 1024), NOBODY)


async def test_a_decoder_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr("retinue.adapters.embedded.speech.recording_decoder.WALL_SECONDS", 0.05)
    with pytest.raises(Invalid) as refused:
        await decode_recording(plain_wav(silence(600)), NOBODY)
    assert refused.value.details == {"audio": "is not a readable recording"}


async def test_the_decoder_can_open_nothing_and_reach_nobody():
    found = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-I", "-c", CONFINED], capture_output=True, check=True
    )
    assert found.stdout == repr([True] * 8).encode()
