"""Speech to text on this machine: one process decodes the recording, another transcribes it."""

from contextlib import aclosing
from pathlib import Path

from retinue.adapters.embedded.host import Capability, ModelHost
from retinue.adapters.embedded.speech.recording_decoder import decode_recording
from retinue.adapters.embedded.speech.recordings import SAMPLE_RATE
from retinue.adapters.embedded.weights import PULL_HINT, TRANSCRIPTION_WEIGHTS, find
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import Audio, Transcription
from retinue.kit.errors import Invalid
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.json_types import JsonObject

_CAPABILITY = Capability(
    name="speech to text", program="retinue.adapters.embedded.speech.transcriber_program"
)


class Transcriber:
    def __init__(self, models_folder: Path) -> None:
        self.host = ModelHost(_CAPABILITY, lambda: _options(models_folder))

    async def transcribe(
        self,
        audio: Audio,
        *,
        language: str | None = None,
        prompt: str | None = None,
        requester: QueuedCaller = NOBODY,
    ) -> Transcription:
        """Return the transcription, empty if there is no speech; calls alternate between requesters."""
        samples = await decode_recording(audio.content, requester)
        payload = {"samples": samples, "language": language, "prompt": prompt}
        try:
            async with aclosing(self.host.stream("transcribe", payload, requester=requester)) as parts:
                detected_language, *texts = [part async for part in parts] or [None]
        except ModelError as error:
            if error.kind == "invalid_request":
                raise Invalid({"language": "is not supported for transcription"}) from error
            raise
        seconds = round(len(samples) / 2 / SAMPLE_RATE, 2)
        return Transcription(" ".join("".join(texts).split()), detected_language if texts else None, seconds)

    async def close(self) -> None:
        await self.host.close()


def _options(models_folder: Path) -> JsonObject:
    folder = find(models_folder.absolute(), TRANSCRIPTION_WEIGHTS)
    if folder is None:
        raise ModelError(
            "unreachable", f"The weights of {TRANSCRIPTION_WEIGHTS.model} are missing: {PULL_HINT}."
        )
    return {"folder": str(folder), "readable": [str(folder)]}
