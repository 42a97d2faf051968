"""Recordings that strangers send, decoded in a process that has nothing to lose."""

import asyncio
import signal

from retinue.adapters.embedded.speech.recordings import (
    DEMUXERS,
    LARGEST_BYTES,
    LONGEST_SECONDS,
    SAMPLE_RATE,
    TOO_LONG,
    UNREADABLE,
)
from retinue.kit import children
from retinue.kit.errors import FileTooLarge, Invalid, UnsupportedFileType
from retinue.kit.http.sniffing import HEAD_BYTES, TAIL_BYTES, sniff

WALL_SECONDS = 60.0

_LARGEST_RESULT = LONGEST_SECONDS * SAMPLE_RATE * 2
# Each child may take three quarters of a gigabyte; more recordings than this at once wait for their turn.
_children = asyncio.Semaphore(2)


async def decode(content: bytes) -> bytes:
    """The sound of a recording as 16-bit samples, 16,000 a second; what it is, its own bytes say."""
    if len(content) > LARGEST_BYTES:
        raise FileTooLarge
    demuxer = DEMUXERS.get(sniff(content[:HEAD_BYTES], content[-TAIL_BYTES:]) or "")
    if demuxer is None:
        raise UnsupportedFileType("The recording must be wav, mp3, webm, ogg, m4a or flac.")
    async with _children:
        code, samples = await _run_child(content, demuxer)
    if code == 0 and samples:
        return samples
    if code == TOO_LONG:
        raise Invalid({"audio": f"must not be longer than {LONGEST_SECONDS // 60} minutes"})
    if code == UNREADABLE or code < 0:
        raise Invalid({"audio": "is not a readable recording"})
    raise RuntimeError(f"the audio decoder ended with {code}")


async def _run_child(content: bytes, demuxer: str) -> tuple[int, bytes]:
    """The child's exit code (negative: the signal that ended it) and what it wrote."""
    try:
        async with (
            asyncio.timeout(WALL_SECONDS),
            children.child("-m", "retinue.adapters.embedded.speech.decoder", demuxer) as decoder,
        ):
            heard = await children.ask(decoder, content, _LARGEST_RESULT)
    except (TimeoutError, children.TooMuch):
        return -signal.SIGKILL, b""
    return heard.code, heard.content
