"""The real server as a process that can be killed."""

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.e2e.load import Unreachable, call
from tests.pgbouncer import database_settings

ADMIN_PASSWORD = "Crash-Test-1"
ROOT = Path(__file__).parent.parent.parent
START_S = 120
_running: list[asyncio.subprocess.Process] = []


def kill_what_is_left() -> None:
    """A test that failed does not stop its servers."""
    while _running:
        with contextlib.suppress(ProcessLookupError):
            _running.pop().kill()


_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# Below the ports that the system gives to anyone who asks, and none that another worker takes. Another
# suite on this machine begins somewhere else.
_FIRST = os.getpid() * 37 % 1_000
_ports = itertools.cycle(20_000 + 1_000 * _WORKER + (_FIRST + at) % 1_000 for at in range(1_000))


def free_port() -> int:
    for port in _ports:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("unreachable")


async def launch_process(
    log: Path, env: dict[str, str], *arguments: str, is_piped: bool = False, python: str = sys.executable
) -> asyncio.subprocess.Process:
    """A process of Python with these settings and no others; one that `is_piped` can be talked to."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RETINUE_")}
    with log.open("ab") as written:
        process = await asyncio.create_subprocess_exec(
            python,
            *arguments,
            env={**inherited, **env},
            stdin=asyncio.subprocess.PIPE if is_piped else None,
            stdout=asyncio.subprocess.PIPE if is_piped else written,
            stderr=written,
            cwd=ROOT,
        )
    _running.append(process)
    return process


class ServerProcess:
    """`retinue serve` with its own data dir; `start` returns when it is ready, `kill` is SIGKILL."""

    def __init__(
        self,
        folder: Path,
        database_url: str = "",
        *,
        mutant: str = "",
        is_shared: bool = False,
        python: str = sys.executable,
        **env: str,
    ) -> None:
        """`is_shared`: used by many tests, and ended by its starter; `python`: of another environment."""
        self.port = free_port()
        self.python = python
        self._is_shared = is_shared
        self.env = {
            "RETINUE_DATA_DIR": str(folder / "data"),
            **{f"RETINUE_{name.upper()}": url for name, url in database_settings(database_url).items()},
            "RETINUE_ADMIN_PASSWORD": ADMIN_PASSWORD,
            "RETINUE_PASSWORD_COST": "8,1,1",
            "RETINUE_LOG_LEVEL": "warning",
            **env,
        }
        self._command = ["-m", "tests.e2e.mutants", mutant] if mutant else ["-m", "retinue.cli"]
        self._log = folder / "server.log"
        self.process: asyncio.subprocess.Process | None = None

    @property
    def worker_env(self) -> dict[str, str]:
        """For a worker beside it: that only this machine reaches the instance, a worker is told or doubts."""
        return {"RETINUE_BASE_URL": f"http://127.0.0.1:{self.port}", **self.env}

    @property
    def pids(self) -> list[int]:
        """The ids of the processes that answer requests."""
        assert self.process is not None
        return [self.process.pid]

    async def start(self) -> None:
        command = (*self._command, "serve", "--port", str(self.port))
        self.process = await launch_process(self._log, self.env, *command, python=self.python)
        if self._is_shared:
            _running.remove(self.process)
        for _ in range(START_S * 50):
            if self.process.returncode is not None:
                break
            try:
                status, _ = await call(self.port, "GET", "/health")
            except Unreachable:
                status = 0
            if status == 200:
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the server did not start:\n" + self._log.read_text()[-4000:])

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()

    async def ended(self, seconds: float) -> bool:
        """Return whether the process ended by itself in this time."""
        assert self.process is not None
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), seconds)
        return self.process.returncode is not None

    async def stop(self) -> int:
        """Ask the process to stop; return its exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 15)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kills the process if it is still running, also after a failed test."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text()


async def make_database(server: str, name: str) -> str:
    """A PostgreSQL database for one test."""
    connection = await asyncpg.connect(server)
    await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    await connection.execute(f'CREATE DATABASE "{name}"')
    await connection.close()
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


async def drop_database(server: str, name: str) -> None:
    connection = await asyncpg.connect(server)
    await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    await connection.close()
