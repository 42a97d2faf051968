"""First start, restart to ready, and memory at rest, of `retinue serve` with its inline worker."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.figures import KEY, Figure
from bench.servers import cpu_seconds, free_port


class _Start(NamedTuple):
    seconds: float
    cpu_s: float
    resident_mib: float
    idle_percent: float


def measure(url: str) -> list[Figure]:
    """The database is empty, so that the first start migrates it."""
    with tempfile.TemporaryDirectory() as compiling, tempfile.TemporaryDirectory() as folder:
        _start(_environment(compiling, ""))  # compiles, which installing does otherwise
        first = _start(_environment(folder, url))
        # Long enough for the processes that only proved the sandboxes to be gone.
        again = _start(_environment(folder, url), rest_s=15)
    return [
        Figure("first start", first.cpu_s, "s CPU", 2.5),
        Figure("first start, in restarts", first.cpu_s / again.cpu_s, "x", 1.6),
        Figure("restart to ready", again.seconds, "s", 2),
        Figure("memory at rest, with its children", again.resident_mib, "MiB", 120),
        Figure("CPU at rest", again.idle_percent, "% of a core", 1),
    ]


def _environment(folder: str, url: str) -> dict[str, str]:
    env = {**os.environ, "RETINUE_DATA_DIR": folder, "RETINUE_DATABASE_URL": url, **KEY}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def _start(env: dict[str, str], rest_s: float = 0) -> _Start:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "retinue.cli", "serve", "--port", str(free_port())],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        while b"ready" not in (line := process.stdout.readline()):
            if not line:
                raise RuntimeError("retinue serve did not start")
        seconds = time.perf_counter() - began
        before = cpu_seconds(process.pid)
        time.sleep(rest_s)
        idle = (cpu_seconds(process.pid) - before) / rest_s * 100 if rest_s else 0.0
        return _Start(seconds, before, sum(map(_own_share, _tree(process.pid))), idle)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)


def _tree(pid: int) -> list[int]:
    """The process and all below it."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    children = {int(child) for thread in threads for child in thread.read_text().split()}
    return [pid, *(below for child in children for below in _tree(child))]


def _own_share(pid: int) -> float:
    """The process's memory in MiB; what it shares is divided among its users."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))
