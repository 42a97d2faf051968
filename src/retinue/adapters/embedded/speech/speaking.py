"""The program of the child that speaks: text in, sound of a format out, piece by piece."""

from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.embedded.child import Serve
from retinue.adapters.embedded.frames import Refused
from retinue.adapters.embedded.speech.voice import UnspeakableError, Voice
from retinue.adapters.sandbox.guest import confine

# A voice takes a quarter of a gigabyte; libraries reserve more than they ever use.
_ADDRESS_SPACE = 2 * 1024**3


def load(options: dict[str, Any]) -> Serve:
    confine.limit(**{"as": _ADDRESS_SPACE})
    voices = {name: Voice(name) for name in options["voices"]}

    def serve(method: str, payload: Any, _is_cancelled: Callable[[], bool]) -> Iterator[bytes]:
        if method != "speak":
            raise Refused(f"nothing is called {method}")
        try:
            yield from voices[payload["voice"]].said(payload["text"], payload["format"], payload["speed"])
        except UnspeakableError:
            raise Refused("nothing in the text can be said") from None

    return serve
