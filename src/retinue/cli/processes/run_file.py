"""A file that names a running supervisor: `retinue reload` finds it and learns how the reload went."""

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


class RunFile:
    """Locked for as long as the supervisor lives, so that a file of a killed one is not believed."""

    def __init__(self, data_dir: Path, processes: int) -> None:
        folder = data_dir / _FOLDER
        make_private_folder(folder)
        self._path = folder / f"serve-{os.getpid()}.json"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.state = SupervisorState(pid=os.getpid(), machine=machine_id(), processes=processes)
        self._write()

    def record_reload(self, error: str) -> None:
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
    """Yield the files of the supervisors that run on this machine; those of killed ones are removed."""
    for path in sorted((data_dir / _FOLDER).glob("serve-*.json")):
        with suppress(FileNotFoundError), path.open("rb") as file:
            state = read_state(path)
            if state is not None and state.machine != machine_id():
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield path
            else:
                path.unlink(missing_ok=True)


def read_state(path: Path) -> SupervisorState | None:
    """Return what a supervisor wrote; None if it is writing just now or has ended."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=SupervisorState)
    except (OSError, msgspec.MsgspecError):
        return None
