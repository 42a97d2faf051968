"""The child's program for text to speech: text in, encoded audio out, piece by piece."""

from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.embedded.child import CallHandler
from retinue.adapters.embedded.frames import ModelCallRefused
from retinue.adapters.embedded.speech.voice import UnspeakableError, Voice
from retinue.adapters.sandbox.guest import confine
from retinue.kit.json_types import JsonObject

# A voice takes 0.25 GB; libraries reserve more than they use.
_ADDRESS_SPACE_BYTES = 2 * 1024**3


def load(options: JsonObject) -> CallHandler:
    confine.limit(**{"as": _ADDRESS_SPACE_BYTES})
    voices = {name: Voice(name) for name in options["voices"]}

    def serve(method: str, payload: Any, _is_cancelled: Callable[[], bool]) -> Iterator[bytes]:
        if method != "speak":
            raise ModelCallRefused(f"unknown method {method}")
        try:
            yield from voices[payload["voice"]].synthesize(
                payload["text"], payload["format"], payload["speed"]
            )
        except UnspeakableError:
            raise ModelCallRefused("the text contains nothing to read aloud") from None

    return serve
