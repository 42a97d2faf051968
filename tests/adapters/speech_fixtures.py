"""One voice and one listener for all tests of speech; a plugin of the test modules that name it."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from retinue.adapters.embedded.speech.synthesizer import SpeechSynthesizer
from retinue.adapters.embedded.speech.transcriber import Transcriber
from retinue.adapters.embedded.weights import TRANSCRIPTION_WEIGHTS
from retinue.adapters.embedded.weights_download import pull
from tests.adapters.recordings import MODELS, SENTENCE, samples_of


@pytest.fixture(scope="session")
async def speaker() -> AsyncIterator[SpeechSynthesizer]:
    made = SpeechSynthesizer()
    yield made
    await made.close()


@pytest.fixture(scope="session")
async def transcriber() -> AsyncIterator[Transcriber]:
    pull(MODELS, (TRANSCRIPTION_WEIGHTS,))
    made = Transcriber(MODELS)
    yield made
    await made.close()


@pytest.fixture(scope="session")
async def sentence(speaker: SpeechSynthesizer) -> np.ndarray:
    """The sentence as somebody said it: 16-bit samples, 16,000 a second."""
    return samples_of(b"".join([part async for part in speaker.speak(SENTENCE, format="wav")]))
