"""The child's program for speech to text: samples in, text out, segment by segment."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from faster_whisper import WhisperModel  # type: ignore[import-untyped]  # no stubs
from faster_whisper.vad import (  # type: ignore[import-untyped]  # no stubs
    VadOptions,
    get_speech_timestamps,
)
from numpy.typing import NDArray

from retinue.adapters.embedded.child import CallHandler
from retinue.adapters.embedded.frames import ModelCallRefused
from retinue.adapters.embedded.speech.recordings import SAMPLE_RATE
from retinue.adapters.sandbox.guest import confine
from retinue.kit.json_types import JsonObject

MAX_WORK_SECONDS = 300.0
# Ten minutes of speech take 0.67 GB; libraries reserve more than they use.
_ADDRESS_SPACE_BYTES = 4 * 1024**3

_MAX_THREADS = 4
# Whisper invents text for silence and noise, so it only receives what a detector classifies as speech.
_VAD_OPTIONS = VadOptions(
    threshold=0.5, min_speech_duration_ms=120, min_silence_duration_ms=500, speech_pad_ms=300
)
# A second, bolder attempt if the first repeats itself; each further attempt costs as much again.
_TEMPERATURES = (0.0, 0.4)
_UNSURE_LOG_PROBABILITY = -1.0
_NO_SPEECH_PROBABILITY = 0.6
_MAX_PROMPT_LENGTH = 1_000

_WINDOW_SAMPLES = 30 * SAMPLE_RATE

Sound = NDArray[np.float32]


class WhisperTranscriber(WhisperModel):  # type: ignore[misc]  # see the import
    """Whisper that encodes a recording once for both language detection and transcription."""

    _encoded: tuple[Sound, Any] | None = None

    def encode(self, features: Sound) -> Any:
        if self._encoded is None or not np.array_equal(self._encoded[0], features):
            self._encoded = features, super().encode(features)
        return self._encoded[1]

    def language_of(self, speech: Sound) -> str:
        # The last frame is padding, and transcription leaves it out too.
        features = self.feature_extractor(speech[:_WINDOW_SAMPLES])[..., :-1]
        language, *_ = self.detect_language(features=features)
        return str(language)


def load(options: JsonObject) -> CallHandler:
    confine.limit(**{"as": _ADDRESS_SPACE_BYTES})
    threads = min(_MAX_THREADS, os.cpu_count() or 1)
    model = WhisperTranscriber(
        options["folder"],
        device="cpu",
        compute_type="int8",
        cpu_threads=threads,
        # Otherwise a missing folder would be looked up as a model on a hub.
        local_files_only=True,
    )
    # Triggers late loading, such as that of the detector shipped with faster-whisper.
    get_speech_timestamps(np.zeros(SAMPLE_RATE, np.float32), _VAD_OPTIONS)

    def serve(method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        if method != "transcribe":
            raise ModelCallRefused(f"unknown method {method}")
        return _transcribe(model, payload, is_cancelled)

    return serve


def _transcribe(
    model: WhisperTranscriber, payload: JsonObject, is_cancelled: Callable[[], bool]
) -> Iterator[Any]:
    """Yield the language, or None if there is no speech; then the text of each segment."""
    language = payload["language"]
    if language is not None and language not in model.supported_languages:
        raise ModelCallRefused(f"the language {language[:20]} is not supported")
    speech = _speech_in(payload["samples"])
    if not len(speech):
        yield None
        return
    language = language or model.language_of(speech)
    yield language
    segments, _ = model.transcribe(
        speech,
        language=language,
        initial_prompt=(payload["prompt"] or "")[:_MAX_PROMPT_LENGTH] or None,
        temperature=_TEMPERATURES,
        best_of=1,
        condition_on_previous_text=False,
        log_prob_threshold=_UNSURE_LOG_PROBABILITY,
        no_speech_threshold=_NO_SPEECH_PROBABILITY,
    )
    deadline = time.monotonic() + MAX_WORK_SECONDS
    for segment in segments:
        if is_cancelled():
            return
        if time.monotonic() > deadline:
            raise ModelCallRefused("the recording takes too long to transcribe", kind="timeout")
        if segment.no_speech_prob < _NO_SPEECH_PROBABILITY or segment.avg_logprob > _UNSURE_LOG_PROBABILITY:
            yield segment.text


def _speech_in(samples: bytes) -> Sound:
    """Return the parts of a recording that contain speech."""
    sound: Sound = np.frombuffer(samples, "<i2").astype(np.float32) / 32768.0
    stretches = get_speech_timestamps(sound, _VAD_OPTIONS)
    if not stretches:
        return np.zeros(0, np.float32)
    return np.concatenate([sound[stretch["start"] : stretch["end"]] for stretch in stretches])
