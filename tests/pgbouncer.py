"""A PgBouncer of our own in transaction mode; with `RETINUE_TEST_PGBOUNCER=1` every test is behind it."""

import atexit
import functools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import pytest

from tests.databases import SERVER

# Debian puts it where only root's path leads.
BINARY = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
IS_EVERYWHERE = bool(os.environ.get("RETINUE_TEST_PGBOUNCER"))
# Fewer sessions than a service has connections, so that each transaction may meet another one.
SESSIONS = 3
_START_S = 10
_CONFIG = """\
[databases]
* = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
logfile = {folder}/pgbouncer.log
"""


class PgBouncer:
    """Leads to every database of the server of the tests."""

    def __init__(self, sessions: int = SESSIONS) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self._folder = Path(tempfile.mkdtemp(prefix="retinue-pgbouncer-"))
        self._sessions = sessions
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert BINARY is not None
        parts = urlsplit(SERVER)
        server = f"host={parts.hostname} port={parts.port or 5432} user={unquote(parts.username or '')}"
        if parts.password:
            server += f" password={unquote(parts.password)}"
        config = self._folder / "pgbouncer.ini"
        config.write_text(
            _CONFIG.format(server=server, port=self.port, sessions=self._sessions, folder=self._folder)
        )
        command = [BINARY, "--quiet", str(config)]
        if os.geteuid() == 0:  # it refuses to run as root
            command[1:1] = ["--user", "nobody"]
            for path in (self._folder, config):
                shutil.chown(path, "nobody")
        self._process = subprocess.Popen(command)
        self._wait()

    def _wait(self) -> None:
        for _ in range(_START_S * 50):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("PgBouncer does not answer: " + (self._folder / "pgbouncer.log").read_text())

    def url(self, direct: str) -> str:
        """Return the URL of the same database through it."""
        parts = urlsplit(direct)
        user = parts.netloc.rpartition("@")[0]
        return urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{self.port}"))

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


@functools.cache
def _shared_pooler() -> PgBouncer:
    """Return the one of this process of the tests, started when it is first needed."""
    made = PgBouncer()
    made.start()
    atexit.register(made.stop)
    return made


def database_settings(direct: str) -> dict[str, Any]:
    """Return the settings of a service on this database: behind the pooler where all tests are."""
    if not IS_EVERYWHERE or not direct:
        return {"database_url": direct}
    return {"database_url": _shared_pooler().url(direct), "database_direct_url": direct}


def why_not() -> str:
    """Return why PgBouncer cannot be in front of every test; empty if it can, or need not."""
    if IS_EVERYWHERE and (BINARY is None or not SERVER):
        return "RETINUE_TEST_PGBOUNCER: needs pgbouncer and the server of RETINUE_TEST_DATABASE_URL"
    return ""


needs_pgbouncer = pytest.mark.skipif(
    BINARY is None or not SERVER, reason="needs PgBouncer and the PostgreSQL of RETINUE_TEST_DATABASE_URL"
)
