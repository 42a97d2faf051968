"""Server processes of a benchmark, and the CPU time they have used."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

_PATIENCE_S = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(pid: int) -> float:
    """User and system time of a process with all its threads, those included that have ended."""
    # The number that Linux gives to the clock of another process; Python has no name for it.
    return time.clock_gettime((~pid << 3) | 2)


class Server:
    """A module that serves on the port it is given, run by this Python or another one."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: dict[str, str] | None = None,
        python: str = sys.executable,
        health: str = "/health",
        folder: Path | None = None,
    ) -> None:
        self.port = free_port()
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [python, "-m", module, str(self.port), *arguments],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdout=subprocess.DEVNULL,
            # Ours has nothing to say unless something is wrong; others may talk.
            stderr=None if python == sys.executable else subprocess.DEVNULL,
        )
        try:
            self._wait(f"http://127.0.0.1:{self.port}{health}", until=started + _PATIENCE_S)
        except BaseException:
            self.stop()
            raise
        self.seconds_to_ready = time.perf_counter() - started

    def _wait(self, url: str, *, until: float) -> None:
        while time.perf_counter() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(url, timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("the server did not start")

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def resident_mb(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
