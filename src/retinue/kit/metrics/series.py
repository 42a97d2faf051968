"""Kinds of metrics: each knows its labels, and its series once the metrics are open.

Metrics are counted on the event loop's thread only, so a series needs no lock.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from retinue.kit.clock import SystemClock

MAX_SERIES = 2000
"""The most series of one metric in a process: a label that is not bounded must not fill the memory."""

OTHER = "other"
# Which process measured last is decided by the time of the machine.
_wall_time = SystemClock().time
WriteValue = Callable[[str, float, float], None]
OpenFile = Callable[[str], WriteValue]


class _Cell:
    """One number of a series, in memory and in the file."""

    __slots__ = ("_key", "_write", "value")

    def __init__(self, write: WriteValue, key: str, value: float = 0.0) -> None:
        self._write, self._key, self.value = write, key, value
        write(key, value, 0.0)

    def add(self, amount: float) -> None:
        self.value += amount
        self._write(self._key, self.value, 0.0)

    def set(self, value: float) -> None:
        self.value = value
        self._write(self._key, value, _wall_time())


class MetricDeclaration:
    """A metric: its name, its help text and the names of its labels."""

    type: str

    def __init__(self, name: str, help: str, labels: tuple[str, ...] = ()) -> None:
        self.name, self.help, self.labels = name, help, labels
        self._series: dict[tuple[str, ...], Any] | None = None
        self._write: WriteValue = _write_nowhere

    @property
    def is_on(self) -> bool:
        return self._series is not None

    @property
    def file_kind(self) -> str:
        """The beginning of the file's name, from which a reader knows how to add processes up."""
        return self.type

    def open(self, open_file: OpenFile) -> None:
        self._series, self._write = {}, open_file(self.file_kind)
        if not self.labels:
            self._series[()] = self._new_series(())

    def close(self) -> None:
        self._series, self._write = None, _write_nowhere

    def _find(self, series: dict[tuple[str, ...], Any], labels: tuple[str, ...]) -> Any:
        """Return a series that may be new."""
        found = series.get(labels)
        if found is not None:
            return found
        if len(labels) != len(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}")
        if len(series) >= MAX_SERIES:
            labels = (OTHER,) * len(labels)
            if labels in series:
                return series[labels]
        found = series[labels] = self._new_series(labels)
        return found

    def _new_series(self, labels: tuple[str, ...]) -> Any:
        return _Cell(self._write, self._key(self.name, labels))

    def _key(self, sample: str, labels: tuple[str, ...], **more: str) -> str:
        from prometheus_client.mmap_dict import mmap_key

        family = self.name.removesuffix("_total")
        key: str = mmap_key(family, sample, [*self.labels, *more], [*labels, *more.values()], self.help)
        return key


class CounterDeclaration(MetricDeclaration):
    type = "counter"

    def count(self, *labels: str, amount: float = 1.0) -> None:
        series = self._series
        if series is not None:
            (series.get(labels) or self._find(series, labels)).add(amount)

    def set_total(self, total: float, *labels: str) -> None:
        """Set a total that the operating system or the interpreter counts."""
        series = self._series
        if series is not None:
            cell = self._find(series, labels)
            cell.add(max(0.0, total - cell.value))


class GaugeDeclaration(MetricDeclaration):
    type = "gauge"

    def __init__(self, name: str, help: str, labels: tuple[str, ...] = (), *, across: str) -> None:
        """`across` says how processes are combined: `livesum`, `livemax` or `livemostrecent`."""
        super().__init__(name, help, labels)
        self.across = across

    @property
    def file_kind(self) -> str:
        return f"gauge_{self.across}"

    def _new_series(self, labels: tuple[str, ...]) -> Any:
        if self.across == "livemostrecent" and not self.labels:
            # Nothing was measured yet: only a value with a time is shown.
            return _Unmeasured(self, labels)
        return super()._new_series(labels)

    def measured(self, labels: tuple[str, ...]) -> _Cell:
        assert self._series is not None
        cell = self._series[labels] = _Cell(self._write, self._key(self.name, labels))
        return cell

    def set(self, value: float, *labels: str) -> None:
        series = self._series
        if series is not None:
            self._find(series, labels).set(value)

    def add(self, amount: float, *labels: str) -> None:
        series = self._series
        if series is not None:
            self._find(series, labels).add(amount)


class _Unmeasured:
    """The series of a gauge that has no value yet."""

    def __init__(self, gauge: GaugeDeclaration, labels: tuple[str, ...]) -> None:
        self._gauge, self._labels = gauge, labels

    def set(self, value: float) -> None:
        self._gauge.measured(self._labels).set(value)


class HistogramDeclaration(MetricDeclaration):
    type = "histogram"

    def __init__(
        self, name: str, help: str, labels: tuple[str, ...] = (), *, buckets: tuple[float, ...]
    ) -> None:
        super().__init__(name, help, labels)
        self.buckets = buckets

    def observe(self, value: float, *labels: str) -> None:
        series = self._series
        if series is not None:
            counts, total = series.get(labels) or self._find(series, labels)
            counts[bisect_left(self.buckets, value)].add(1.0)
            total.add(value)

    def _new_series(self, labels: tuple[str, ...]) -> Any:
        bounds = [*(repr(float(bound)) for bound in self.buckets), "+Inf"]
        counts = [_Cell(self._write, self._key(f"{self.name}_bucket", labels, le=bound)) for bound in bounds]
        return counts, _Cell(self._write, self._key(f"{self.name}_sum", labels))


def _write_nowhere(_key: str, _value: float, _at: float) -> None:
    raise RuntimeError("the metrics are not open")
