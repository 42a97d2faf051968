"""Circuit breakers for models that fail repeatedly with a key; in memory, separately in each process.

A breaker belongs to a key and a model: one model that fails says nothing about the others of the key. A
provider that names a time to come back (`Retry-After`) is left alone until then.
"""

from collections import OrderedDict

from msgspec import Struct

from retinue.kit.peers import Peers

MAX_FAILURES = 5
WINDOW_SECONDS = 60.0
OPEN_SECONDS = 30.0
_MAX_TRACKED_MODELS = 4096
CHANGED_KEYS = "providers.changed_keys"
"""The topic under which processes tell each other which provider key has changed."""


class BreakerKey(Struct, frozen=True):
    """The subject of a breaker: a model, called with one provider key."""

    key_id: str
    model: str


class _BreakerState(Struct):
    """Failures in a window; at the maximum the breaker opens."""

    window_ends: float
    failures: int = 0
    open_until: float | None = None
    held_until: float = 0.0


class CircuitBreakers:
    def __init__(self, most: int = _MAX_TRACKED_MODELS, peers: Peers | None = None) -> None:
        self._max_tracked = most
        self._peers = peers or Peers()
        self._peers.subscribe(CHANGED_KEYS, self._forget_key)
        self._states: OrderedDict[BreakerKey, _BreakerState] = OrderedDict()

    def admits(self, guarded: BreakerKey, now: float) -> bool:
        """Return whether it may be tried; after the pause one call probes it while others wait."""
        state = self._states.get(guarded)
        if state is None or state.open_until is None:
            return True
        if now < state.open_until:
            return False
        state.open_until = now + OPEN_SECONDS
        return True

    def held_seconds(self, guarded: BreakerKey, now: float) -> float:
        """Return how long the provider asked to be left alone."""
        state = self._states.get(guarded)
        return max(0.0, state.held_until - now) if state is not None else 0.0

    def open_seconds(self, guarded: BreakerKey, now: float) -> float:
        """Return how long the breaker stays open."""
        state = self._states.get(guarded)
        return max(0.0, (state.open_until or now) - now) if state is not None else 0.0

    def hold(self, guarded: BreakerKey, now: float, seconds: float) -> None:
        self._touch(guarded, now).held_until = now + seconds

    def failed(self, guarded: BreakerKey, now: float) -> None:
        state = self._touch(guarded, now)
        if state.open_until is None and now >= state.window_ends:
            state.failures, state.window_ends = 0, now + WINDOW_SECONDS
        state.failures += 1
        if state.failures >= MAX_FAILURES:
            state.open_until = now + OPEN_SECONDS

    def _touch(self, guarded: BreakerKey, now: float) -> _BreakerState:
        state = self._states.pop(guarded, None) or _BreakerState(now + WINDOW_SECONDS)
        self._states[guarded] = state
        if len(self._states) > self._max_tracked:
            self._states.popitem(last=False)
        return state

    def forget(self, guarded: BreakerKey) -> None:
        """Reset the breaker of a model that works again."""
        self._states.pop(guarded, None)

    def forget_key(self, key_id: str) -> None:
        """Reset every breaker of a key that works again or was changed, also in the peers of this process."""
        self._forget_key(key_id)
        self._peers.publish(CHANGED_KEYS, key_id)

    def _forget_key(self, key_id: str) -> None:
        for guarded in [guarded for guarded in self._states if guarded.key_id == key_id]:
            del self._states[guarded]
