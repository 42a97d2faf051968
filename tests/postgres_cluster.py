"""A PostgreSQL server of our own that asks for passwords, which the server of the tests may not."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

USER, PASSWORD = "keeper", "right-Pass/word@1"
_START_S = 30
_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
INITDB = shutil.which("initdb") or (str(_BINARIES[-1]) if _BINARIES else None)
# The server refuses to run as root.
_OWNER = "postgres" if os.geteuid() == 0 else None

needs_cluster = pytest.mark.skipif(INITDB is None, reason="needs the programs of PostgreSQL")


@contextlib.contextmanager
def postgres_cluster() -> Iterator[int]:
    """Start a server with one user and the database `postgres`, without TLS; yields its port."""
    assert INITDB is not None
    home = Path(tempfile.mkdtemp(prefix="retinue-postgres-"))
    if _OWNER is not None:
        shutil.chown(home, _OWNER)
    (password := home / "password").write_text(PASSWORD)
    password.chmod(0o644)
    data = home / "data"
    options = ["-D", data, "-U", USER, "-A", "scram-sha-256", f"--pwfile={password}", "--no-sync"]
    subprocess.run([INITDB, *options], check=True, user=_OWNER, cwd="/", stdout=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = Path(INITDB).with_name("postgres")
    where = ["-D", data, "-p", str(port), "-k", "", "-h", "127.0.0.1"]
    process = subprocess.Popen([server, *where], user=_OWNER, cwd="/", stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(data)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=_START_S)
        shutil.rmtree(home)


def _wait_until_ready(data: Path) -> None:
    """Wait for the last line of the server's own file: it takes connections before it can answer them."""
    for _ in range(_START_S * 20):
        with contextlib.suppress(OSError):
            if (data / "postmaster.pid").read_text().rstrip().endswith("ready"):
                return
        time.sleep(0.05)
    raise AssertionError("PostgreSQL did not start")
