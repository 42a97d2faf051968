"""The process that decodes one recording: bytes on stdin, the format as argument, samples on stdout.

Recordings are untrusted and FFmpeg is large, so this process decodes one recording and exits. It can neither
open a file nor reach an address, and uses only the demuxer of the given format, so that a recording cannot
refer to another source.
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
    EXIT_TOO_LONG,
    EXIT_UNREADABLE,
    MAX_RECORDING_BYTES,
    MAX_RECORDING_SECONDS,
    SAMPLE_RATE,
)
from retinue.adapters.sandbox.guest import confine, filters
from retinue.kit.json_types import JsonObject

_MEBIBYTE = 1024 * 1024
_LIMITS = {"as": 512 * _MEBIBYTE, "cpu": 30, "fsize": 0, "core": 0, "nofile": 16}
_SAMPLE_RATES = range(4_000, 192_001)
_MAX_CHANNELS = 8
_MAX_RESULT_BYTES = MAX_RECORDING_SECONDS * SAMPLE_RATE * 2
# Before version 19, PyAV fails on tags that are not UTF-8 unless told to ignore them.
_TAG_OPTIONS: JsonObject = {"metadata_errors": "ignore"} if int(av.__version__.partition(".")[0]) < 19 else {}
# The shortest possible recording; decoding it triggers PyAV's late imports.
_SMALLEST_WAV = struct.pack(
    "<4sI4s4sIHHIIHH4sIh",
    *(b"RIFF", 38, b"WAVE", b"fmt ", 16, 1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16, b"data", 2, 0),
)


class TooLongError(Exception):
    """The recording is longer than the limit."""


class UnreadableError(Exception):
    """The content is not a recording of speech."""


def lock_down() -> None:
    # uvloop passes on every inheritable descriptor of the server.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    confine.limit(**_LIMITS)
    confine.landlock()
    # Sufficient on its own: the filter allows no call that opens anything.
    confine.filter_calls(filters.for_computing())


def decode_recording(content: bytes, demuxer: str) -> bytes:
    """Return the first audio stream of a recording as 16-bit samples, mixed to one channel."""
    options = {"format_whitelist": demuxer, "codec_whitelist": ",".join(CODECS), "protocol_whitelist": "none"}
    samples = bytearray()
    with av.open(BytesIO(content), "r", format=demuxer, container_options=options, **_TAG_OPTIONS) as file:
        for frame in _resample(_frames(file, _audio_stream(file))):
            samples += bytes(frame.planes[0])[: frame.samples * 2]
            if len(samples) > _MAX_RESULT_BYTES:
                raise TooLongError
    if not samples:
        raise UnreadableError
    return bytes(samples)


def _audio_stream(file: InputContainer) -> AudioStream:
    if not file.streams.audio:
        raise UnreadableError
    stream = file.streams.audio[0]
    if stream.codec_context.name not in CODECS:
        raise UnreadableError
    stream.codec_context.thread_type = "NONE"
    return stream


def _frames(file: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Yield every frame that can be read, so that a partly damaged recording is still transcribed."""
    for packet in file.demux(stream):
        try:
            frames = packet.decode()
        except av.error.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, AudioFrame):
                yield frame


def _resample(frames: Iterator[AudioFrame]) -> Iterator[AudioFrame]:
    resampler = AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
    for frame in frames:
        # One sample per second would expand to hours, and a thousand channels would fill the memory.
        if frame.sample_rate not in _SAMPLE_RATES or frame.layout.nb_channels > _MAX_CHANNELS:
            raise UnreadableError
        frame.pts = None
        yield from resampler.resample(frame)
    yield from resampler.resample(None)


def main() -> int:
    content = sys.stdin.buffer.read(MAX_RECORDING_BYTES + 1)
    decode_recording(_SMALLEST_WAV, "wav")
    lock_down()
    try:
        samples = decode_recording(content, sys.argv[1])
    except TooLongError:
        return EXIT_TOO_LONG
    except Exception:  # noqa: BLE001 - PyAV raises almost anything on a broken recording
        return EXIT_UNREADABLE
    sys.stdout.buffer.write(samples)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
