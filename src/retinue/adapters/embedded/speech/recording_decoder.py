"""Decoding of untrusted recordings in a separate, locked-down process."""

import asyncio
import signal

from retinue.adapters.embedded.speech.recordings import (
    DEMUXERS,
    EXIT_TOO_LONG,
    EXIT_UNREADABLE,
    MAX_RECORDING_BYTES,
    MAX_RECORDING_SECONDS,
    SAMPLE_RATE,
)
from retinue.adapters.sandbox.reader_places import reader_place
from retinue.kit import subprocesses
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.fair_queue import QueuedCaller
from retinue.kit.http.media_types import HEAD_BYTES, TAIL_BYTES, sniff

WALL_SECONDS = 60.0

_MAX_RESULT_BYTES = MAX_RECORDING_SECONDS * SAMPLE_RATE * 2


async def decode_recording(content: bytes, requester: QueuedCaller) -> bytes:
    """Return a recording as 16-bit samples at 16 kHz; the format is detected from its content."""
    if len(content) > MAX_RECORDING_BYTES:
        raise FileTooLarge
    demuxer = DEMUXERS.get(sniff(content[:HEAD_BYTES], content[-TAIL_BYTES:]) or "")
    if demuxer is None:
        raise UnsupportedFileType("The recording must be wav, mp3, webm, ogg, m4a or flac.")
    async with reader_place(requester):
        code, samples = await _run_child(content, demuxer)
    if code == 0 and samples:
        return samples
    if code == EXIT_TOO_LONG:
        raise Invalid({"audio": f"must not be longer than {MAX_RECORDING_SECONDS // 60} minutes"})
    if code == EXIT_UNREADABLE or code < 0:
        raise Invalid({"audio": "is not a readable recording"})
    raise RuntimeError(f"the audio decoder ended with {code}")


async def _run_child(content: bytes, demuxer: str) -> tuple[int, bytes]:
    """Return the child's exit code (negative: the signal that ended it) and its output."""
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            subprocesses.python_subprocess(
                "-m", "retinue.adapters.embedded.speech.decoder_program", demuxer
            ) as decoder,
        ):
            child_output = await subprocesses.communicate(decoder, content, _MAX_RESULT_BYTES)
    except (TimeoutError, subprocesses.OutputTooLarge):
        return -signal.SIGKILL, b""
    return child_output.code, child_output.content
