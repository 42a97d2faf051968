"""Audio encoders: samples in, encoded bytes out, as early as the format allows."""

import struct
from collections.abc import Callable, Mapping
from io import RawIOBase
from typing import Protocol

import av
import lameenc  # type: ignore[import-not-found]  # no stubs
import numpy as np
from av.audio.frame import AudioFrame
from numpy.typing import NDArray

Samples = NDArray[np.int16]

_MP3_KILOBITS = 64
_OPUS_BITS = 32_000
_OPUS_FRAME_SECONDS = 0.02
# The value for sizes in a WAV header that are not known when it is written.
_UNKNOWN_SIZE = 0xFFFFFFFF


class Encoder(Protocol):
    def encode(self, samples: Samples) -> bytes:
        """Return the bytes that are ready to be sent."""
        ...

    def finish(self) -> bytes:
        """Return the remaining bytes."""
        ...


class Mp3Encoder:
    def __init__(self, sample_rate: int) -> None:
        self._lame = lameenc.Encoder()
        self._lame.set_bit_rate(_MP3_KILOBITS)
        self._lame.set_in_sample_rate(sample_rate)
        self._lame.set_channels(1)
        self._lame.set_quality(5)
        self._lame.silence()

    def encode(self, samples: Samples) -> bytes:
        return bytes(self._lame.encode(samples.tobytes()))

    def finish(self) -> bytes:
        return bytes(self._lame.flush())


class WavEncoder:
    def __init__(self, sample_rate: int) -> None:
        form = (b"fmt ", 16, 1, 1, sample_rate, sample_rate * 2, 2, 16)
        self._header = struct.pack(
            "<4sI4s4sIHHIIHH4sI", b"RIFF", _UNKNOWN_SIZE, b"WAVE", *form, b"data", _UNKNOWN_SIZE
        )

    def encode(self, samples: Samples) -> bytes:
        header, self._header = self._header, b""
        return header + samples.tobytes()

    def finish(self) -> bytes:
        return b""


class _OutputBuffer(RawIOBase):
    """The file that the muxer writes to, drained between frames."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # PyAV passes bytes
        self._written += data
        return len(data)

    def take(self) -> bytes:
        content = bytes(self._written)
        self._written.clear()
        return content


class OpusEncoder:
    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._frame = int(sample_rate * _OPUS_FRAME_SECONDS)
        self._pending: Samples = np.zeros(0, np.int16)
        self._position = 0
        self._output = _OutputBuffer()
        # Pages of 0.2 seconds: longer ones would delay the first word.
        options = {"page_duration": "200000"}
        self._file = av.open(self._output, "w", format="ogg", container_options=options)
        self._stream = self._file.add_stream("libopus", rate=sample_rate, layout="mono")
        self._stream.bit_rate = _OPUS_BITS

    def encode(self, samples: Samples) -> bytes:
        pending = np.concatenate((self._pending, samples))
        whole = len(pending) - len(pending) % self._frame
        self._pending = pending[whole:]
        self._mux(pending[:whole])
        return self._output.take()

    def finish(self) -> bytes:
        self._mux(self._pending)
        self._file.mux(self._stream.encode(None))
        self._file.close()
        return self._output.take()

    def _mux(self, samples: Samples) -> None:
        for start in range(0, len(samples), self._frame):
            part = samples[start : start + self._frame]
            frame = AudioFrame.from_ndarray(part.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate, frame.pts = self._rate, self._position
            self._position += len(part)
            self._file.mux(self._stream.encode(frame))


ENCODERS: Mapping[str, Callable[[int], Encoder]] = {
    "mp3": Mp3Encoder,
    "wav": WavEncoder,
    "opus": OpusEncoder,
}
