"""The files of the metrics, one set for each process, and the text that adds all of them up.

The format is the multiprocess format of `prometheus_client`. A process locks a file of its own while it
lives, so its death is seen across containers as well, where process ids mean nothing. The counters of an
ended process are added to `…_ended.db`: a total must not fall while other processes go on.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from retinue.kit.durable_files import make_private_folder
from retinue.kit.metrics.declarations import METRICS
from retinue.kit.metrics.series import WriteValue

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ENDED = "ended"
_SUMMED_KINDS = ("counter", "histogram")
_FILE_BYTES = {"counter": 1 << 20, "histogram": 1 << 18, "gauge": 1 << 16}


class MetricFiles:
    """The metrics of this process, bound to the files in a folder that other processes share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.users = 0
        self._id = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._maps: dict[str, Any] = {}
        make_private_folder(folder)
        with self._locked(fcntl.LOCK_EX):
            self._own_lock = self._lock_path(self._id).open("w")
            fcntl.flock(self._own_lock, fcntl.LOCK_EX)
            self._settle_ended()
        for metric in METRICS.values():
            metric.open(self._open_file)

    def _open_file(self, kind: str) -> WriteValue:
        if kind not in self._maps:
            path = self.folder / f"{kind}_{self._id}.db"
            with path.open("wb") as file:
                # Writing to a mapped page without space on the disk would kill the process.
                os.posix_fallocate(file.fileno(), 0, _FILE_BYTES[kind.partition("_")[0]])
            self._maps[kind] = _file_format().MmapedDict(str(path))
        write: WriteValue = self._maps[kind].write_value
        return write

    def render(self) -> bytes:
        """Return the metrics of all processes that share the folder."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        with self._locked(fcntl.LOCK_SH):
            return generate_latest(registry)

    def collect(self) -> Iterator[Any]:
        from prometheus_client import multiprocess

        reader: Any = multiprocess
        collected = reader.MultiProcessCollector(None, path=str(self.folder)).collect()
        families = {family.name: family for family in collected}
        yield from (families[name] for name in sorted(families))

    def sweep(self) -> None:
        """Settle the files of processes that ended without doing so."""
        with self._locked(fcntl.LOCK_EX):
            self._settle_ended()

    def close(self) -> None:
        for mapped in self._maps.values():
            mapped.close()
        with self._locked(fcntl.LOCK_EX):
            self._own_lock.close()
            self._settle_ended()

    def _settle_ended(self) -> None:
        """Add the counters of ended processes up and drop their gauges; if nobody is left, drop all."""
        ids = [path.stem for path in self.folder.glob("*.lock") if path.stem]
        ended = [id for id in ids if self._has_ended(id)]
        is_alone = len(ended) == len(ids) or (len(ids) - len(ended) == 1 and not self._maps)
        for id in ended:
            for path in self.folder.glob(f"*_{id}.db"):
                kind = path.name.partition("_")[0]
                if kind in _SUMMED_KINDS and not is_alone:
                    _add_up(path, self.folder / f"{kind}_{_ENDED}.db")
                path.unlink()
            self._lock_path(id).unlink()
        if is_alone:
            for kind in _SUMMED_KINDS:
                (self.folder / f"{kind}_{_ENDED}.db").unlink(missing_ok=True)

    def _has_ended(self, id: str) -> bool:
        if id == self._id and not self._own_lock.closed:
            return False
        try:
            with self._lock_path(id).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except FileNotFoundError:
            return False
        return True

    def _lock_path(self, id: str) -> Path:
        return self.folder / f"{id}.lock"

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with (self.folder / "folder").open("a") as lock:
            fcntl.flock(lock, how)
            yield


def _add_up(source: Path, target: Path) -> None:
    file_format = _file_format()
    sums = file_format.MmapedDict(str(target))
    try:
        # A process that was killed while it began a file has written nothing worth keeping.
        with suppress(RuntimeError, ValueError):
            for key, value, _at, _position in file_format.MmapedDict.read_all_values_from_file(str(source)):
                sums.write_value(key, sums.read_value(key)[0] + value, 0.0)
    finally:
        sums.close()


def _file_format() -> Any:
    """Return the module of the file format; imported only where metrics are on."""
    from prometheus_client import mmap_dict

    return mmap_dict


_opened: list[MetricFiles] = []
"""The files that the metrics of this process are bound to: at most one."""


def open_metrics(folder: Path) -> MetricFiles:
    """Open the metrics of this process; instances that share a folder share them."""
    if not _opened or _opened[0].folder != folder:
        _opened[:] = [MetricFiles(folder)]
    _opened[0].users += 1
    return _opened[0]


def close_metrics(files: MetricFiles) -> None:
    files.users -= 1
    if files.users:
        return
    if files in _opened:
        _opened.clear()
        for metric in METRICS.values():
            metric.close()
    files.close()
