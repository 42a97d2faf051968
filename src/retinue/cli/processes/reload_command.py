"""`retinue reload`: every worker process is replaced by one with the current code and settings."""

import os
import signal
import time
from pathlib import Path

import typer

from retinue.cli.processes.run_file import find_supervisors, read_state
from retinue.kit.errors import CannotStart
from retinue.kit.settings import Settings

_POLL_SECONDS = 0.05


def run_reload(settings: Settings, max_seconds: int) -> None:
    """Reload the servers of the data directory on this machine and wait until they have."""
    found = list(find_supervisors(settings.data_dir))
    if not found:
        raise CannotStart(
            f"no server of this machine runs on {settings.data_dir}. Start it with `retinue serve`."
        )
    for path in found:
        _reload(path, max_seconds)


def _reload(path: Path, max_seconds: int) -> None:
    until = time.monotonic() + max_seconds
    before = read_state(path)
    while before is None and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
        before = read_state(path)
    if before is None:
        raise CannotStart("the server has ended")
    os.kill(before.pid, signal.SIGHUP)
    while time.monotonic() < until:
        if not path.exists():
            raise CannotStart("the server has ended")
        state = read_state(path)
        # One that began before the signal has read what stood there before, and says nothing of ours.
        if state is not None and state.reload_count >= before.next_reload:
            if state.reload_error:
                raise CannotStart(f"the reload failed, what ran before goes on: {state.reload_error}")
            count = "1 process" if state.processes == 1 else f"{state.processes} processes"
            typer.echo(f"{count} of the server {state.pid} replaced.")
            return
        time.sleep(_POLL_SECONDS)
    raise CannotStart(f"the reload has not ended after {max_seconds} seconds; the log says why")
