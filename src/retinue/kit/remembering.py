"""What requests have read of a tenant's configuration, for those that come soon after.

Coherent by the stamp of the configuration (kit/db/configuration.py): a request hears it when its caller is
identified, and takes from memory only what was read under the same one. So what one process has changed and
committed, the next request of any process sees.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from retinue.kit.clock import Clock

# A request that takes longer reads for itself: the stamp that it heard says little by then.
_HEARD_FOR_S = 1.0
# In case something has changed the configuration without moving its stamp: an older release that still runs
# beside this one, or a hand in the database.
_KEPT_S = 10.0
_MOST = 1024

MISSING = object()


class Heard(NamedTuple):
    """The stamp of a tenant's configuration, and until when it may be taken for the newest."""

    stamp: int
    until: float


def heard(clock: Clock, stamp: int | None) -> Heard:
    """`stamp` as it was read; a tenant that has not changed anything yet has none."""
    return Heard(stamp or 0, clock.monotonic() + _HEARD_FOR_S)


class Memory:
    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[int, float, Any]] = {}

    def recall(self, key: Hashable, heard: Heard, now: float) -> Any:
        """What is known under this stamp, or `MISSING`."""
        stamp, until, value = self._known.get(key, (-1, 0.0, None))
        return value if stamp == heard.stamp and now < until else MISSING

    def remember(self, key: Hashable, heard: Heard, now: float, value: Any) -> None:
        """`now` is from before it was read."""
        self._known.pop(key, None)
        self._forget(now)
        self._known[key] = (heard.stamp, now + _KEPT_S, value)

    def _forget(self, now: float) -> None:
        """What is kept for as long as everything else ends in the order in which it came."""
        while self._known:
            oldest = next(iter(self._known))
            if now < self._known[oldest][1] and len(self._known) < _MOST:
                return
            del self._known[oldest]
