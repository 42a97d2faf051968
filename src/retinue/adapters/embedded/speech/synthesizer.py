"""Text to speech on this machine, streamed as it is generated."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from retinue.adapters.embedded.host import Capability, ModelHost
from retinue.adapters.embedded.speech.spoken_text import is_in_latin_script
from retinue.adapters.llm.errors import ModelError
from retinue.kit.errors import Invalid
from retinue.kit.fair_queue import NOBODY, QueuedCaller

MAX_TEXT_LENGTH = 4_096
MIN_SPEED, MAX_SPEED = 0.5, 2.0
# The voice shipped with its package. The package would download others from a hub; we never allow that.
VOICES = ("heart",)
DEFAULT_VOICE = VOICES[0]
MIME_TYPES: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg"}

_CAPABILITY = Capability(
    name="text to speech",
    program="retinue.adapters.embedded.speech.synthesizer_program",
    parallel=2,
    max_silence_s=30.0,
)
_UNSPEAKABLE = "contains nothing to read aloud; the embedded voice reads English only"


class SpeechSynthesizer:
    def __init__(self) -> None:
        self.host = ModelHost(_CAPABILITY, lambda: {"voices": list(VOICES)})

    async def speak(
        self,
        text: str,
        *,
        voice: str = "",
        format: str = "mp3",
        speed: float | None = None,
        requester: QueuedCaller = NOBODY,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the audio sentence by sentence; closing the generator stops the work."""
        voice, speed = voice or DEFAULT_VOICE, 1.0 if speed is None else speed
        _check(text, voice, format, speed)
        payload = {"text": text, "voice": voice, "format": format, "speed": speed}
        try:
            async with aclosing(self.host.stream("speak", payload, requester=requester)) as parts:
                async for part in parts:
                    yield part
        except ModelError as error:
            if error.kind == "invalid_request":
                raise Invalid({"text": _UNSPEAKABLE}) from error
            raise

    async def close(self) -> None:
        await self.host.close()


def _check(text: str, voice: str, format: str, speed: float) -> None:
    problems = {}
    if len(text) > MAX_TEXT_LENGTH:
        problems["text"] = f"must be at most {MAX_TEXT_LENGTH} characters"
    elif not is_in_latin_script(text):
        problems["text"] = _UNSPEAKABLE
    if voice not in VOICES:
        problems["voice"] = f"must be one of: {', '.join(VOICES)}"
    if format not in MIME_TYPES:
        problems["format"] = f"must be one of: {', '.join(MIME_TYPES)}"
    if not MIN_SPEED <= speed <= MAX_SPEED:
        problems["speed"] = f"must be between {MIN_SPEED} and {MAX_SPEED}"
    if problems:
        raise Invalid(problems)
