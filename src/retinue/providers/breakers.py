"""Keys that fail again and again are left alone for a while; kept in memory, by each process for itself."""

from collections import OrderedDict

from msgspec import Struct

FAILURES = 5
WINDOW_S = 60.0
REST_S = 30.0
_MOST = 4096


class _Trouble(Struct):
    """Failures of one key in a window; from the one that is too many on, it rests."""

    window_ends: float
    failures: int = 0
    rests_until: float | None = None


class Breakers:
    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._troubles: OrderedDict[str, _Trouble] = OrderedDict()

    def admits(self, key_id: str, now: float) -> bool:
        """Whether the key may be tried; after its rest one call tries it out, and others wait for that."""
        trouble = self._troubles.get(key_id)
        if trouble is None or trouble.rests_until is None:
            return True
        if now < trouble.rests_until:
            return False
        trouble.rests_until = now + REST_S
        return True

    def failed(self, key_id: str, now: float) -> None:
        trouble = self._troubles.pop(key_id, None)
        if trouble is None or (trouble.rests_until is None and now >= trouble.window_ends):
            trouble = _Trouble(now + WINDOW_S)
        trouble.failures += 1
        if trouble.failures >= FAILURES:
            trouble.rests_until = now + REST_S
        self._troubles[key_id] = trouble
        if len(self._troubles) > self._most:
            self._troubles.popitem(last=False)

    def forget(self, key_id: str) -> None:
        """It works, or is not what it was."""
        self._troubles.pop(key_id, None)


_BREAKERS = Breakers()
admits, failed, forget = _BREAKERS.admits, _BREAKERS.failed, _BREAKERS.forget
