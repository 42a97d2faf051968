"""Points at which tests can kill, fail or delay the process; inactive in production.

`RETINUE_FAILPOINTS=after_commit:3:kill,before_commit:1:error` acts on the third and on the first hit.
"""

import os
import signal
import time

from retinue.kit.settings import BadSetting


class FailpointReached(RuntimeError):
    """A test requested a failure at this point."""


_armed: dict[str, tuple[int, str]] = {}
_hits: dict[str, int] = {}


def arm(text: str) -> None:
    """Arm the failpoints of `RETINUE_FAILPOINTS`; an empty text disarms all."""
    _armed.clear()
    _hits.clear()
    for part in filter(None, text.split(",")):
        try:
            name, hit, action = part.split(":", 2)
            _armed[name] = (int(hit), action)
        except ValueError:
            raise BadSetting(f"RETINUE_FAILPOINTS: {part} is not name:hit:action") from None


def failpoint(name: str) -> None:
    if _armed and name in _armed:
        _reached(name)


def _reached(name: str) -> None:
    _hits[name] = _hits.get(name, 0) + 1
    hit, action = _armed[name]
    if _hits[name] != hit:
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action.startswith("delay="):
        time.sleep(float(action.removeprefix("delay=")))
    else:
        raise FailpointReached(name)
