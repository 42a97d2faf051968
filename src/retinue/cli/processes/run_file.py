"""A file that names a running server: `retinue reload` finds it and learns how the reload went."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from retinue.kit.durable_files import make_private_folder
from retinue.kit.jobs.worker_ids import machine_id

_FOLDER = "run"


class SupervisorState(msgspec.Struct, kw_only=True):
    pid: int
    machine: str
    processes: int
    reload_count: int = 0
    """Reloads that have ended, well or not."""
    reload_error: str = ""
    """Why the last one failed; empty if it went well."""
    begun_reload_count: int | None = None
    """Reloads that have begun; None of a server that is too old to record it."""

    @property
    def next_reload(self) -> int:
        """Return the number of the first reload that has not begun yet."""
        begun = self.begun_reload_count
        return (self.reload_count if begun is None else begun) + 1


class RunFile:
    """Locked for as long as the server lives, so that a file of a killed one is not believed."""

    def __init__(self, data_dir: Path, processes: int) -> None:
        folder = data_dir / _FOLDER
        make_private_folder(folder)
        self._path = folder / f"serve-{os.getpid()}.json"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.state = SupervisorState(pid=os.getpid(), machine=machine_id(), processes=processes)
        self.state.begun_reload_count = 0
        self._write()

    def record_reload_begun(self) -> None:
        self.state.begun_reload_count = self.state.next_reload
        self._write()

    def record_reload_ended(self, error: str) -> None:
        self.state.reload_count += 1
        self.state.reload_error = error
        self._write()

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _write(self) -> None:
        content = msgspec.json.encode(self.state)
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))


def find_supervisors(data_dir: Path) -> Iterator[Path]:
    """Yield the files of the servers that run on this machine; those of killed ones are removed."""
    for path, is_alive in _files(data_dir):
        if is_alive:
            yield path
        else:
            path.unlink(missing_ok=True)


def has_dead_server(data_dir: Path) -> bool:
    """Return whether a server of this machine was killed and its file not removed yet."""
    return any(not is_alive for _, is_alive in _files(data_dir))


def _files(data_dir: Path) -> Iterator[tuple[Path, bool]]:
    for path in sorted((data_dir / _FOLDER).glob("serve-*.json")):
        with suppress(FileNotFoundError), path.open("rb") as file:
            state = read_state(path)
            if state is not None and state.machine != machine_id():
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield path, True
            else:
                yield path, False


def read_state(path: Path) -> SupervisorState | None:
    """Return what a supervisor wrote; None if it is writing just now or has ended."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=SupervisorState)
    except (OSError, msgspec.MsgspecError):
        return None
