"""Recordings for tests, written by FFmpeg in the formats that browsers, phones and computers record in."""

import io
import struct
import wave
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

RATE = 16_000
# Kept from run to run: the weights are 150 MB.
MODELS = Path(".cache/models").absolute()
SENTENCE = "The library opens at nine in the morning. Nobody may bring food inside."
# What the muxers and encoders of FFmpeg are called, and the rate each is used with.
WRITERS = {
    "wav": ("wav", "pcm_s16le", 16_000),
    "wav_24_bit": ("wav", "pcm_s24le", 48_000),
    "wav_telephone": ("wav", "pcm_mulaw", 8_000),
    "mp3": ("mp3", "libmp3lame", 44_100),
    "webm": ("webm", "libopus", 48_000),
    "matroska": ("matroska", "libopus", 48_000),
    "ogg": ("ogg", "libopus", 48_000),
    "m4a": ("ipod", "aac", 44_100),
    "mp4": ("mp4", "aac", 44_100),
}


def encode_recording(samples: np.ndarray, kind: str, layout: str = "mono") -> bytes:
    """16-bit samples, 16,000 a second, as a file of some kind."""
    muxer, encoder, rate = WRITERS[kind]
    target = io.BytesIO()
    with av.open(target, "w", format=muxer) as file:
        stream = file.add_stream(encoder, rate=rate, layout=layout)
        resampler = AudioResampler(format=stream.codec_context.format.name, layout=layout, rate=rate)
        whole = AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        whole.sample_rate = RATE
        for frame in (*resampler.resample(whole), *resampler.resample(None)):
            frame.pts = None
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return target.getvalue()


def samples_of(content: bytes) -> np.ndarray:
    """The sound of a file again, as 16-bit samples, 16,000 a second."""
    resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(io.BytesIO(content)) as file:
        frames = [made for frame in file.decode(audio=0) for made in resampler.resample(frame)]
    frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])


def silence(seconds: float) -> np.ndarray:
    return np.zeros(int(RATE * seconds), np.int16)


def noise(seconds: float, loudness: float = 0.2) -> np.ndarray:
    made = np.random.default_rng(7).normal(0, loudness, int(RATE * seconds))
    return (np.clip(made, -1, 1) * 32_767).astype(np.int16)


def tone(seconds: float) -> np.ndarray:
    return (12_000 * np.sin(np.arange(int(RATE * seconds)) * 2 * np.pi * 440 / RATE)).astype(np.int16)


def plain_wav(samples: np.ndarray, rate: int = RATE, channels: int = 1) -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return target.getvalue()


def small_silence(seconds: int) -> bytes:
    """Hours in a few megabytes: Opus says nothing in three bytes for each 60 milliseconds."""
    pages, page, granule = [], 0, 0

    def add(packets: list[bytes], flags: int = 0) -> None:
        nonlocal page
        lacing = bytes(len(packet) for packet in packets)
        head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 1, page, 0)
        content = head + bytes([len(lacing)]) + lacing + b"".join(packets)
        pages.append(content[:22] + struct.pack("<I", _ogg_checksum(content)) + content[26:])
        page += 1

    add([struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, 312, 48_000, 0, 0)], flags=2)
    add([struct.pack("<8sI6sI", b"OpusTags", 6, b"silent", 0)])
    for _ in range(seconds // 15):
        granule += 250 * 2_880
        add([b"\x18\xff\xfe"] * 250)
    return b"".join(pages)


_OGG_TABLE: list[int] = []


def _ogg_checksum(content: bytes) -> int:
    if not _OGG_TABLE:
        for start in range(256):
            value = start << 24
            for _ in range(8):
                value = ((value << 1) ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
            _OGG_TABLE.append(value)
    checksum = 0
    for byte in content:
        checksum = (checksum << 8) & 0xFFFFFFFF ^ _OGG_TABLE[(checksum >> 24) ^ byte]
    return checksum
