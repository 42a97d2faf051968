"""Runs the test suite on SQLite and, where they answer, with PostgreSQL, Redis and MariaDB.

The pass on PostgreSQL runs the tests that may differ there: tests/conftest.py selects them by their markers.

An address given in a RETINUE_TEST_* variable must answer; the usual loopback ones are used when they do.
"""

import asyncio
import getpass
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
from redis.asyncio import Redis

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "RETINUE_TEST_DATABASE_URL"
PYTEST = (sys.executable, "-m", "pytest", "--dist", "worksteal", "-m", "not slow and not campaign", "-n")
# So many that both end together, and that a machine of two cores is busy while some of them wait.
SQLITE_WORKERS, POSTGRESQL_WORKERS = 3, 2
ONLY_DATABASE = "RETINUE_TEST_ONLY_DATABASE"
NOTHING_TO_RUN = 5
# What `make check` runs by itself.
CHECKED = tuple(
    f"--ignore=tests/contract/{name}.py" for name in ("test_shape", "test_names", "test_dependencies")
)
PATIENCE_SECONDS = 5


async def probe_postgresql(url: str) -> None:
    connection = await asyncpg.connect(url, timeout=PATIENCE_SECONDS)
    await connection.close()


async def probe_redis(url: str) -> None:
    async with Redis.from_url(url, socket_timeout=PATIENCE_SECONDS) as client:
        await client.ping()


async def probe_mariadb(url: str) -> None:
    """A MariaDB server speaks first; its driver is no dependency, so a greeting has to do."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port or 3306)
    try:
        await asyncio.wait_for(reader.readexactly(4), PATIENCE_SECONDS)
    finally:
        writer.close()


@dataclass(frozen=True)
class Service:
    name: str
    variable: str
    usual: str
    probe: Callable[[str], Awaitable[None]]


SERVICES = (
    Service(
        "PostgreSQL",
        DATABASE,
        f"postgresql://{quote(getpass.getuser())}@127.0.0.1:5432/test",
        probe_postgresql,
    ),
    Service("Redis", "RETINUE_TEST_REDIS_URL", "redis://127.0.0.1:6379/15", probe_redis),
    Service("MariaDB", "RETINUE_TEST_MARIADB_URL", "mysql://root@127.0.0.1:3306/test", probe_mariadb),
)


def shown(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.username else ""
    return urlunsplit(parts._replace(netloc=user + host))


def find(service: Service) -> str | None:
    """The address to use, after really talking to the server; none when the usual place is empty."""
    given = os.environ.get(service.variable)
    url = given or service.usual
    try:
        asyncio.run(asyncio.wait_for(service.probe(url), 2 * PATIENCE_SECONDS))
    except Exception as error:  # noqa: BLE001 - whatever the driver raises, the server is of no use
        reason = f"{type(error).__name__}: {error}"
        if given:
            sys.exit(f"{service.name} does not answer at {shown(url)} (${service.variable}): {reason}")
        say(f"{service.name}: not used, none at {shown(url)} ({type(error).__name__})")
        return None
    say(f"{service.name}: {shown(url)}")
    return url


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Pass:
    """The suite on one database, started at once; output that goes into a file is shown at the end."""

    def __init__(
        self,
        database: str,
        workers: int,
        environment: dict[str, str],
        arguments: list[str],
        output: IO[bytes] | None,
    ) -> None:
        self._database = database
        self._may_be_empty = ONLY_DATABASE in environment
        self._output = output
        self._started = time.monotonic()
        command = [*PYTEST, str(workers), *CHECKED, *arguments]
        self._process = subprocess.Popen(  # noqa: S603 - ours
            command, cwd=ROOT, env=environment, stdout=output, stderr=output and subprocess.STDOUT
        )

    def finish(self) -> bool:
        code = self._process.wait()
        seconds = time.monotonic() - self._started
        if self._output is not None:
            say(f"\n== the suite on {self._database}")
            self._output.seek(0)
            shutil.copyfileobj(self._output, sys.stdout.buffer)
        if code == NOTHING_TO_RUN and self._may_be_empty:
            code = 0
        outcome = "ok" if code == 0 else f"failed (pytest {code})"
        say(f"== {self._database}: {outcome}, {seconds:.1f} s")
        return code == 0


def compile_tests(environment: dict[str, str]) -> None:
    """Let pytest rewrite and store every module of the tests once: each worker would do it for itself."""
    folders = sorted(path for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py")))
    halves = (folders[::2], folders[1::2])
    collectors = [
        subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-m", "pytest", "--collect-only", "-qq", *map(str, half)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        for half in halves
    ]
    for collector in collectors:
        collector.wait()


def main() -> None:
    arguments = sys.argv[1:]
    say("SQLite: always")
    found = {service.variable: find(service) for service in SERVICES}
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RETINUE_") or name.startswith("RETINUE_TEST_")
    }
    environment |= {name: url for name, url in found.items() if url}
    # Many tests start the server as a process: compiled once, it is up in half the time.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # Several services need PostgreSQL, and are for campaigns.
    environment.pop("RETINUE_TEST_SERVICES", None)
    postgresql = environment.pop(DATABASE, None)
    if not arguments:
        compile_tests(environment)
    say("\n== the suite on SQLite" + (", with the one on PostgreSQL beside it" if postgresql else ""))
    # Side by side, because half of the time of tests is waiting: for servers, disks and clocks.
    with tempfile.TemporaryFile() as output:
        passes = [Pass("SQLite", SQLITE_WORKERS, environment, arguments, None)]
        if postgresql:
            second = {**environment, DATABASE: postgresql, ONLY_DATABASE: "1"}
            passes.append(Pass("PostgreSQL", POSTGRESQL_WORKERS, second, arguments, output))
        passed = [each.finish() for each in passes]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
