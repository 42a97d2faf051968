"""An in-process cache of tenant configuration (ADR 20).

A version stamp (kit/db/config_versions.py) keeps it coherent: a request reads the stamp during authentication
and uses only entries cached under the same stamp. A change committed by one process is therefore visible to
the next request of any process.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from retinue.kit.clock import Clock

# A request that runs longer than this bypasses the cache: its stamp may be outdated.
_VERSION_TRUST_SECONDS = 1.0
# Bounds staleness if the configuration changes without its stamp: by an older release running in parallel,
# or by hand.
ENTRY_TTL_SECONDS = 10.0
_MAX_ENTRIES = 1024

MISSING = object()


class ConfigVersion(NamedTuple):
    """The stamp of a tenant's configuration, and the monotonic time until which it is trusted."""

    stamp: int
    until: float


def config_version_now(clock: Clock, stamp: int | None) -> ConfigVersion:
    """Return a version that is trusted from now on; a tenant without any change has no stamp."""
    return ConfigVersion(stamp or 0, clock.monotonic() + _VERSION_TRUST_SECONDS)


class ConfigCache:
    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[int, float, Any]] = {}

    def get_cached(self, key: Hashable, version: ConfigVersion, now: float) -> Any:
        """Return the value cached under this stamp, or `MISSING`."""
        stamp, until, value = self._known.get(key, (-1, 0.0, None))
        return value if stamp == version.stamp and now < until else MISSING

    def store_cached(self, key: Hashable, version: ConfigVersion, now: float, value: object) -> None:
        """Cache a value; `now` must be taken before the value was read."""
        self._known.pop(key, None)
        self._evict(now)
        self._known[key] = (version.stamp, now + ENTRY_TTL_SECONDS, value)

    def _evict(self, now: float) -> None:
        """Remove expired entries, oldest first: all have the same TTL, so insertion order is expiry order."""
        while self._known:
            oldest = next(iter(self._known))
            if now < self._known[oldest][1] and len(self._known) < _MAX_ENTRIES:
                return
            del self._known[oldest]
