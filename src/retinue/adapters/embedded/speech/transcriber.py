"""Speech to text on this machine: a recording is decoded in one process and heard in another."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

from retinue.adapters.embedded.host import Capability, Host
from retinue.adapters.embedded.speech.decoding import decode
from retinue.adapters.embedded.speech.recordings import SAMPLE_RATE
from retinue.adapters.embedded.weights import PULL_HINT, TRANSCRIPTION, find
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import Audio, Transcription
from retinue.kit.errors import Invalid

_LISTENING = Capability(name="speech to text", program="retinue.adapters.embedded.speech.listening")


class Transcriber:
    def __init__(self, models_folder: Path) -> None:
        self.host = Host(_LISTENING, lambda: _options(models_folder))

    async def transcribe(
        self,
        audio: Audio,
        *,
        language: str | None = None,
        prompt: str | None = None,
        who: str = "",
    ) -> Transcription:
        """What was said, empty where nobody speaks; `who` takes turns with others."""
        samples = await decode(audio.content)
        payload = {"samples": samples, "language": language, "prompt": prompt}
        try:
            async with aclosing(self.host.stream("transcribe", payload, who=who)) as parts:
                heard, *texts = [part async for part in parts] or [None]
        except ModelError as error:
            if error.kind == "invalid_request":
                raise Invalid({"language": "is not one that can be transcribed"}) from error
            raise
        seconds = round(len(samples) / 2 / SAMPLE_RATE, 2)
        return Transcription(" ".join("".join(texts).split()), heard if texts else None, seconds)

    async def close(self) -> None:
        await self.host.close()


def _options(models_folder: Path) -> dict[str, Any]:
    folder = find(models_folder.absolute(), TRANSCRIPTION)
    if folder is None:
        raise ModelError("unreachable", f"The weights of {TRANSCRIPTION.model} are missing; {PULL_HINT}.")
    return {"folder": str(folder), "readable": [str(folder)]}
