"""The length of a recording, estimated for what it costs; a provider that reports it knows better."""

import io
import wave

from retinue.adapters.llm import Audio

# What voices are recorded at by browsers and telephones; music has more, so it is estimated as too long.
_BYTES_PER_SECOND = 4_000
# What the finest recording of a voice has. A header that says more would make a long recording cost nothing.
_MAX_BYTES_PER_SECOND = 48_000 * 2 * 4


def estimate_seconds(audio: Audio) -> float:
    """Return the seconds by the size of the recording, and by the rate that a wave file says it has."""
    bytes_per_second = _BYTES_PER_SECOND
    try:
        with wave.open(io.BytesIO(audio.content)) as sound:
            bytes_per_second = sound.getframerate() * sound.getnchannels() * sound.getsampwidth()
    except (wave.Error, EOFError):
        pass
    return len(audio.content) / min(bytes_per_second or _BYTES_PER_SECOND, _MAX_BYTES_PER_SECOND)
