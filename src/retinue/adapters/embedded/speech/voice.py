"""The voice itself: text in, sound out, piece by piece; runs in a process of its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hibari import Hibari  # type: ignore[import-untyped]  # it has no stubs

from retinue.adapters.embedded.speech.encoders import ENCODERS, Samples
from retinue.adapters.embedded.speech.wording import is_in_latin_script, packed, pieces, plain

# Longer runs cost memory by their square.
_LONGEST_PHONEMES = 400
# The noise in a voice; a constant, so that the same text is the same sound.
_SEED = 0


class UnspeakableError(Exception):
    """There is nothing in the text that an English voice could say."""


class Voice:
    """One voice, loaded; loading reads only files of the installed package."""

    def __init__(self, name: str) -> None:
        self._engine: Any = Hibari(voice=name)
        # Everything that is loaded late is loaded now, while files may still be opened.
        list(self.said("Ready, Mx. Zyzzyva?", "opus", 1.0))

    def said(self, text: str, format: str, speed: float) -> Iterator[bytes]:
        """The text as sound of a format, each piece as soon as it is made."""
        words = plain(text)
        if not is_in_latin_script(words):
            raise UnspeakableError
        encoder = ENCODERS[format](self._engine.sample_rate)
        has_spoken = False
        for piece in pieces(self._engine.split_sentences(words)):
            samples = self._sound(piece, speed)
            if len(samples):
                has_spoken = True
                if sound := encoder.encode(samples):
                    yield sound
        if not has_spoken:
            raise UnspeakableError
        if rest := encoder.finish():
            yield rest

    def _sound(self, piece: str, speed: float) -> Samples:
        sounds = [
            self._engine.from_phonemes(phonemes, speed=speed, seed=_SEED)
            for whole in self._phonemes(piece)
            for phonemes in packed(whole.split(), _LONGEST_PHONEMES)
            # Without any letter it would be breath and noise.
            if any(letter.isalpha() for letter in phonemes)
        ]
        joined = np.concatenate(sounds) if sounds else np.zeros(0, np.float32)
        scaled: Samples = (np.clip(joined, -1.0, 1.0) * 32767.0).astype(np.int16)
        return scaled

    def _phonemes(self, piece: str) -> list[str]:
        try:
            return list(self._engine.phonemize(piece))
        except Exception:  # noqa: BLE001 - its rules for numbers and signs fail on some odd texts
            words = piece.split()
        # A word that cannot be read is left out, like a sign that nobody says; it must not silence the rest.
        return [phonemes for word in words for phonemes in self._phonemes(word)] if len(words) > 1 else []
