"""The process that decodes one recording: bytes on stdin, its format as the one argument, samples on stdout.

Recordings come from strangers and FFmpeg is large, so this process decodes one and is gone. It may neither
open a file nor reach an address, and only the demuxer of the named format is ever tried: nothing in a
recording can name another source.
"""

import os
import struct
import sys
from collections.abc import Iterator
from io import BytesIO

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from retinue.adapters.embedded.speech.recordings import (
    CODECS,
    LARGEST_BYTES,
    LONGEST_SECONDS,
    SAMPLE_RATE,
    TOO_LONG,
    UNREADABLE,
)
from retinue.adapters.sandbox.guest import confine, filters

_MEBIBYTE = 1024 * 1024
_LIMITS = {"as": 768 * _MEBIBYTE, "cpu": 30, "fsize": 0, "core": 0, "nofile": 16}
_RATES = range(4_000, 192_001)
_MOST_CHANNELS = 8
_LARGEST_RESULT = LONGEST_SECONDS * SAMPLE_RATE * 2
# The shortest recording there is: reading it makes PyAV import all that it imports late.
_SMALLEST_WAV = struct.pack(
    "<4sI4s4sIHHIIHH4sIh",
    *(b"RIFF", 38, b"WAVE", b"fmt ", 16, 1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16, b"data", 2, 0),
)


class TooLongError(Exception):
    """There is more sound than is listened to."""


class UnreadableError(Exception):
    """This is no recording of speech."""


def give_up_everything() -> None:
    # uvloop hands on every inheritable descriptor the server was started with.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    confine.limit(**_LIMITS)
    confine.landlock()
    # By itself enough: no call that opens anything is among those that are left.
    confine.filter_calls(filters.for_computing())


def decoded(content: bytes, demuxer: str) -> bytes:
    """The first sound of a recording as 16-bit samples, mixed to one channel."""
    options = {"format_whitelist": demuxer, "codec_whitelist": ",".join(CODECS), "protocol_whitelist": "none"}
    samples = bytearray()
    with av.open(
        BytesIO(content), "r", format=demuxer, container_options=options, metadata_errors="ignore"
    ) as file:
        for frame in _resampled(_frames(file, _sound(file))):
            samples += bytes(frame.planes[0])[: frame.samples * 2]
            if len(samples) > _LARGEST_RESULT:
                raise TooLongError
    if not samples:
        raise UnreadableError
    return bytes(samples)


def _sound(file: InputContainer) -> AudioStream:
    if not file.streams.audio:
        raise UnreadableError
    stream = file.streams.audio[0]
    if stream.codec_context.name not in CODECS:
        raise UnreadableError
    stream.codec_context.thread_type = "NONE"
    return stream


def _frames(file: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Every frame that can be read: a recording with a damaged place is still heard."""
    for packet in file.demux(stream):
        try:
            frames = packet.decode()
        except av.error.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, AudioFrame):
                yield frame


def _resampled(frames: Iterator[AudioFrame]) -> Iterator[AudioFrame]:
    resampler = AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
    for frame in frames:
        # One frame of a sample a second would become hours, and a thousand channels fill the memory.
        if frame.sample_rate not in _RATES or frame.layout.nb_channels > _MOST_CHANNELS:
            raise UnreadableError
        frame.pts = None
        yield from resampler.resample(frame)
    yield from resampler.resample(None)


def main() -> int:
    content = sys.stdin.buffer.read(LARGEST_BYTES + 1)
    decoded(_SMALLEST_WAV, "wav")
    give_up_everything()
    try:
        samples = decoded(content, sys.argv[1])
    except TooLongError:
        return TOO_LONG
    except Exception:  # noqa: BLE001 - a broken recording makes PyAV raise nearly anything
        return UNREADABLE
    sys.stdout.buffer.write(samples)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
