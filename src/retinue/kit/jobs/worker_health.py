"""Whether a worker gets its work done, as `/health` reports it."""

from collections import deque

import msgspec

from retinue.kit.clock import Clock
from retinue.kit.jobs.queue import JobOutcome

MIN_FAULTS = 5
FAULT_WINDOW_SECONDS = 300.0
MAX_TURN_FAILURE_SECONDS = 10.0


class RunnerStatus(msgspec.Struct):
    """The status for `/health`; a worker that has not polled for a while is not well."""

    worker: str
    is_running: bool
    is_well: bool
    is_failing: bool
    running: dict[str, int]

    @property
    def label(self) -> str:
        if not self.is_well:
            return "stalled"
        return "failing" if self.is_failing else "ok"


class _AttemptEnd(msgspec.Struct, gc=False):
    at: float
    is_fault: bool


class WorkerHealth:
    """Remembers the last attempts and turns of this process's worker.

    The worker fails while its turns have failed for ten seconds, or while its last five attempts, all within
    five minutes, ended by a fault of the instance: an unexpected error, or the database, the disk or the
    vault unavailable. A receiver that does not answer or a tool that fails is none: no tenant causes it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends: deque[_AttemptEnd] = deque(maxlen=MIN_FAULTS)
        self._failing_since: float | None = None

    def attempt_ended(self, outcome: JobOutcome | None) -> None:
        """Note the end of an attempt; without an outcome its own transaction has recorded it."""
        is_fault = outcome is not None and outcome.is_fault
        self._ends.append(_AttemptEnd(self._clock.monotonic(), is_fault))

    def turn_succeeded(self) -> None:
        self._failing_since = None

    def turn_failed(self) -> None:
        if self._failing_since is None:
            self._failing_since = self._clock.monotonic()

    @property
    def is_failing(self) -> bool:
        now = self._clock.monotonic()
        if self._failing_since is not None and now - self._failing_since >= MAX_TURN_FAILURE_SECONDS:
            return True
        return len(self._ends) == MIN_FAULTS and all(
            end.is_fault and now - end.at < FAULT_WINDOW_SECONDS for end in self._ends
        )
