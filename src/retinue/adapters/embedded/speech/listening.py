"""The program of the child that listens: samples in, what was said out, a stretch at a time."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from faster_whisper import WhisperModel  # type: ignore[import-untyped]  # it has no stubs
from faster_whisper.vad import (  # type: ignore[import-untyped]  # it has no stubs
    VadOptions,
    get_speech_timestamps,
)
from numpy.typing import NDArray

from retinue.adapters.embedded.child import Serve
from retinue.adapters.embedded.frames import Refused
from retinue.adapters.embedded.speech.recordings import SAMPLE_RATE
from retinue.adapters.sandbox.guest import confine

LONGEST_WORK_S = 300.0
# Ten minutes of speech take two thirds of a gigabyte; libraries reserve more than they ever use.
_ADDRESS_SPACE = 4 * 1024**3

_MOST_THREADS = 4
# Whisper tells tales about silence and noise, so it only ever gets to hear what a detector takes for speech.
_SPEECH = VadOptions(
    threshold=0.5, min_speech_duration_ms=120, min_silence_duration_ms=500, speech_pad_ms=300
)
# A second try, a little bolder, where the first one repeats itself; every further one costs as much again.
_TEMPERATURES = (0.0, 0.4)
_UNSURE_LOG_PROBABILITY = -1.0
_UNHEARD_PROBABILITY = 0.6
_LONGEST_PROMPT = 1_000

_WINDOW = 30 * SAMPLE_RATE

Sound = NDArray[np.float32]


class Listener(WhisperModel):  # type: ignore[misc]  # see the import
    """Whisper that does not encode the same sound twice: once for its language, once for its words."""

    _encoded: tuple[Sound, Any] | None = None

    def encode(self, features: Sound) -> Any:
        if self._encoded is None or not np.array_equal(self._encoded[0], features):
            self._encoded = features, super().encode(features)
        return self._encoded[1]

    def language_of(self, speech: Sound) -> str:
        # The last frame holds only padding, and is left out where words are looked for.
        features = self.feature_extractor(speech[:_WINDOW])[..., :-1]
        language, *_ = self.detect_language(features=features)
        return str(language)


def load(options: dict[str, Any]) -> Serve:
    confine.limit(**{"as": _ADDRESS_SPACE})
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    model = Listener(
        options["folder"],
        device="cpu",
        compute_type="int8",
        cpu_threads=threads,
        # A folder that is not there would be taken for a model on a hub.
        local_files_only=True,
    )
    # Loads the detector, which lies beside faster-whisper, and whatever else is loaded late.
    get_speech_timestamps(np.zeros(SAMPLE_RATE, np.float32), _SPEECH)

    def serve(method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        if method != "transcribe":
            raise Refused(f"nothing is called {method}")
        return _heard(model, payload, is_cancelled)

    return serve


def _heard(model: Listener, payload: dict[str, Any], is_cancelled: Callable[[], bool]) -> Iterator[Any]:
    """First the language, or None where nobody speaks; then each stretch of text."""
    language = payload["language"]
    if language is not None and language not in model.supported_languages:
        raise Refused(f"the language {language[:20]} is not known")
    speech = _speech_in(payload["samples"])
    if not len(speech):
        yield None
        return
    language = language or model.language_of(speech)
    yield language
    segments, _ = model.transcribe(
        speech,
        language=language,
        initial_prompt=(payload["prompt"] or "")[:_LONGEST_PROMPT] or None,
        temperature=_TEMPERATURES,
        best_of=1,
        condition_on_previous_text=False,
        log_prob_threshold=_UNSURE_LOG_PROBABILITY,
        no_speech_threshold=_UNHEARD_PROBABILITY,
    )
    deadline = time.monotonic() + LONGEST_WORK_S
    for segment in segments:
        if is_cancelled():
            return
        if time.monotonic() > deadline:
            raise Refused("the recording takes too long to transcribe", kind="timeout")
        if segment.no_speech_prob < _UNHEARD_PROBABILITY or segment.avg_logprob > _UNSURE_LOG_PROBABILITY:
            yield segment.text


def _speech_in(samples: bytes) -> Sound:
    """The parts of a recording where somebody speaks."""
    sound: Sound = np.frombuffer(samples, "<i2").astype(np.float32) / 32768.0
    stretches = get_speech_timestamps(sound, _SPEECH)
    if not stretches:
        return np.zeros(0, np.float32)
    return np.concatenate([sound[stretch["start"] : stretch["end"]] for stretch in stretches])
