"""Text to speech on this machine, sent as it is made."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from retinue.adapters.embedded.host import Capability, Host
from retinue.adapters.embedded.speech.wording import is_in_latin_script
from retinue.adapters.llm.errors import ModelError
from retinue.kit.errors import Invalid

LONGEST_TEXT = 4_096
SLOWEST, FASTEST = 0.5, 2.0
# The voice whose weights come with its package; the package would fetch others from a hub, which we never do.
VOICES = ("heart",)
DEFAULT_VOICE = VOICES[0]
MIME_TYPES: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg"}

_SPEAKING = Capability(
    name="text to speech", program="retinue.adapters.embedded.speech.speaking", parallel=2, silence_s=30.0
)
_UNSPEAKABLE = "has nothing that can be read out; the embedded voice reads English"


class Speaker:
    def __init__(self) -> None:
        self.host = Host(_SPEAKING, lambda: {"voices": list(VOICES)})

    async def speak(
        self,
        text: str,
        *,
        voice: str = "",
        format: str = "mp3",
        speed: float | None = None,
        who: str = "",
    ) -> AsyncGenerator[bytes, None]:
        """The sound, a sentence at a time; closing the generator stops the work. `who` takes turns."""
        voice, speed = voice or DEFAULT_VOICE, 1.0 if speed is None else speed
        _check(text, voice, format, speed)
        payload = {"text": text, "voice": voice, "format": format, "speed": speed}
        try:
            async with aclosing(self.host.stream("speak", payload, who=who)) as parts:
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
    if len(text) > LONGEST_TEXT:
        problems["text"] = f"must have at most {LONGEST_TEXT} characters"
    elif not is_in_latin_script(text):
        problems["text"] = _UNSPEAKABLE
    if voice not in VOICES:
        problems["voice"] = f"must be one of: {', '.join(VOICES)}"
    if format not in MIME_TYPES:
        problems["format"] = f"must be one of: {', '.join(MIME_TYPES)}"
    if not SLOWEST <= speed <= FASTEST:
        problems["speed"] = f"must be between {SLOWEST} and {FASTEST}"
    if problems:
        raise Invalid(problems)
