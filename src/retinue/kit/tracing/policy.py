"""Which parts of traces are recorded, kept and exported."""

import time
from bisect import insort
from collections import deque
from typing import Final

from retinue.kit.settings import Settings

INSTANCE_EXPORTER: Final = "instance"
"""The exporter that the operator configures, for the parts of every tenant."""

_SLOW_WINDOW_SECONDS = 3_600
_MAX_DURATIONS = 1_000
_MIN_DURATIONS = 100


class TracingPolicy:
    """The policy of one process.

    `exporters` holds the ids of each tenant's own exporters, `samples` the share of traces to keep where a
    tenant has its own.
    """

    def __init__(self, settings: Settings) -> None:
        self.is_stored = settings.traces
        self._sample = settings.trace_sample
        self._instance_exporters = (INSTANCE_EXPORTER,) if settings.otlp_endpoint else ()
        self.exporters: dict[str, tuple[str, ...]] = {}
        self.samples: dict[str, float] = {}
        self._durations: dict[str, _RecentDurations] = {}

    def exporters_of(self, tenant_id: str) -> tuple[str, ...]:
        return self.exporters.get(tenant_id, ()) + self._instance_exporters

    @property
    def is_on(self) -> bool:
        """Whether any work may be recorded."""
        return self.is_stored or bool(self._instance_exporters) or bool(self.exporters)

    def keeps(self, tenant_id: str, trace_id: str, kind: str, duration_us: int, *, is_error: bool) -> bool:
        """Return whether to keep a part that has ended: errors, the slowest percentile, and the sample.

        The sample goes by the trace's id, so that a trace is kept or left out with all its parts.
        """
        sample = self.samples.get(tenant_id, self._sample)
        if sample >= 1:
            return True
        durations = self._durations.setdefault(kind, _RecentDurations())
        is_slow = durations.add(duration_us)
        return is_error or is_slow or int(trace_id[-8:], 16) < sample * 0x1_0000_0000


class _RecentDurations:
    """The durations of the last hour, at most a thousand, and which of them are the slowest percentile."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()
        self._ordered: list[int] = []

    def add(self, duration_us: int) -> bool:
        now = time.monotonic()
        recent, ordered = self._recent, self._ordered
        while recent and (len(recent) >= _MAX_DURATIONS or now - recent[0][0] > _SLOW_WINDOW_SECONDS):
            ordered.remove(recent.popleft()[1])
        recent.append((now, duration_us))
        insort(ordered, duration_us)
        return len(ordered) >= _MIN_DURATIONS and duration_us >= ordered[len(ordered) * 99 // 100]
