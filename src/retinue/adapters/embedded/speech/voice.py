"""The voice: text in, audio out, piece by piece; runs in the child process."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hibari import Hibari  # type: ignore[import-untyped]  # no stubs

from retinue.adapters.embedded.speech.encoders import ENCODERS, Samples
from retinue.adapters.embedded.speech.spoken_text import (
    is_in_latin_script,
    pack_words,
    split_for_speech,
    strip_markdown,
)

# Memory grows with the square of the length.
_MAX_PHONEMES = 400
# The seed of the voice's noise; constant, so that the same text sounds the same.
_SEED = 0


class UnspeakableError(Exception):
    """The text contains nothing that an English voice can read aloud."""


class Voice:
    """A loaded voice; loading reads only files of the installed package."""

    def __init__(self, name: str) -> None:
        self._engine: Any = Hibari(voice=name)
        # Triggers late loading while files may still be opened.
        list(self.synthesize("Ready, Mx. Zyzzyva?", "opus", 1.0))

    def synthesize(self, text: str, format: str, speed: float) -> Iterator[bytes]:
        """Yield the text as encoded audio, each piece as soon as it is ready."""
        words = strip_markdown(text)
        if not is_in_latin_script(words):
            raise UnspeakableError
        encoder = ENCODERS[format](self._engine.sample_rate)
        has_spoken = False
        for piece in split_for_speech(self._engine.split_sentences(words)):
            samples = self._render_samples(piece, speed)
            if len(samples):
                has_spoken = True
                if sound := encoder.encode(samples):
                    yield sound
        if not has_spoken:
            raise UnspeakableError
        if rest := encoder.finish():
            yield rest

    def _render_samples(self, piece: str, speed: float) -> Samples:
        sounds = [
            self._engine.from_phonemes(phonemes, speed=speed, seed=_SEED)
            for whole in self._phonemes(piece)
            for phonemes in pack_words(whole.split(), _MAX_PHONEMES)
            # Phonemes without letters would sound like breath and noise.
            if any(letter.isalpha() for letter in phonemes)
        ]
        joined = np.concatenate(sounds) if sounds else np.zeros(0, np.float32)
        scaled: Samples = (np.clip(joined, -1.0, 1.0) * 32767.0).astype(np.int16)
        return scaled

    def _phonemes(self, piece: str) -> list[str]:
        try:
            return list(self._engine.phonemize(piece))
        except Exception:  # noqa: BLE001 - its rules for numbers and symbols fail on some texts
            words = piece.split()
        # Skip a word that cannot be read rather than lose the rest.
        return [phonemes for word in words for phonemes in self._phonemes(word)] if len(words) > 1 else []
