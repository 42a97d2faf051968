"""A PostgreSQL and a MariaDB of our own, with TLS, and an SQLite file, as the databases of somebody else."""

import contextlib
import ctypes
import datetime as dt
import ipaddress
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from retinue.adapters.databases import ConnectionSpec
from retinue.kit.secrets import Secret

ADMIN, PLAIN, FILE_READER = "boss", "plain", "file_reader"
PASSWORD = "pä'ss\\word"
NAME = "db.example.test"
PR_SET_PDEATHSIG = 1


@dataclass
class Foreign:
    """One database server, or for SQLite a folder; `spec` says how to reach its `shop`."""

    db_type: str
    port: int = 0
    folder: Path | None = None
    certificate: str = ""

    def spec(self, **changed: object) -> ConnectionSpec:
        if self.db_type == "sqlite":
            return ConnectionSpec(
                **{"db_type": "sqlite", "database": "shop.db", "folder": self.folder, **changed}
            )
        reached = {"host": "127.0.0.1", "port": self.port, "database": "shop", "username": PLAIN}
        return ConnectionSpec(**{"db_type": self.db_type, "password": Secret(PASSWORD), **reached, **changed})


def require_program(program: str, *places: str) -> str:
    """Return the path of a Debian program; without it skip the test, or fail where everything must run."""
    found = shutil.which(program, path=os.pathsep.join([*places, os.environ["PATH"], "/usr/sbin"]))
    if found is None:
        reason = f"{program} is not installed"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI must not skip its tests")
        pytest.skip(reason)
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def make_certificate(folder: Path, host: str = NAME, address: str = "127.0.0.9") -> str:
    """Write a self-signed certificate as server.crt and server.key, and both as both.pem; return its text."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    today = dt.datetime.now(dt.UTC)
    names = [x509.DNSName(host), x509.IPAddress(ipaddress.ip_address(address))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = made.public_bytes(Encoding.PEM)
    (folder / "server.key").write_bytes(private)
    (folder / "server.crt").write_bytes(public)
    (folder / "both.pem").write_bytes(private + public)
    (folder / "server.key").chmod(0o600)
    return public.decode()


@contextlib.contextmanager
def owned_folder(owner: str) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield a temporary folder, and the options of a process that owns it."""
    folder = Path(tempfile.mkdtemp(prefix="retinue-foreign-"))
    run_as: dict[str, object] = {}
    if os.getuid() == 0:
        run_as = {"user": owner, "group": pwd.getpwnam(owner).pw_gid, "extra_groups": []}
    try:
        yield folder, run_as
    finally:
        shutil.rmtree(folder)


def hand_over(folder: Path, owner: str) -> None:
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, owner, pwd.getpwnam(owner).pw_gid)


def end_with_us() -> None:
    """Ask the kernel to end this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


@contextlib.contextmanager
def run_program(command: list[object], ready: str, **options: object) -> Iterator[list[str]]:
    """Run a program, wait for the line that says it is ready, and yield all lines while it runs."""
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=end_with_us,  # noqa: PLW1509 - nothing else is started meanwhile
        **options,
    )
    said: list[str] = []
    is_settled = threading.Event()

    def listen() -> None:
        for line in process.stderr:
            said.append(line)
            if ready in line:
                is_settled.set()
        is_settled.set()

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        is_settled.wait()
        assert any(ready in line for line in said), f"{command[0]} did not start: {said}"
        yield said
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait()
        listener.join()
        process.stderr.close()


@contextlib.contextmanager
def running_postgresql() -> Iterator[Foreign]:
    programs = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    initdb, server = require_program("initdb", *programs), require_program("postgres", *programs)
    port = free_port()
    with owned_folder("postgres") as (folder, run_as):
        data, password = folder / "data", folder / "password"
        password.write_text(PASSWORD)
        hand_over(folder, "postgres")
        arguments = ["-U", ADMIN, "-A", "scram-sha-256", "-N", "-E", "UTF8", f"--pwfile={password}"]
        made = [initdb, "-D", str(data), *arguments]
        subprocess.run(made, check=True, cwd=folder, stdout=subprocess.DEVNULL, **run_as)
        certificate = make_certificate(data)
        hand_over(data, "postgres")
        command = [
            *(server, "-D", data, "-h", "127.0.0.1", "-p", port, "-k", folder),
            *("-c", "ssl=on", "-c", "fsync=off", "-c", "max_connections=50", "-c", "jit=off"),
        ]
        with run_program(command, "ready to accept connections", cwd=folder, **run_as):
            yield Foreign("postgresql", port, folder, certificate)


MARIADB_SETUP = f"""
CREATE DATABASE shop;
CREATE DATABASE other;
CREATE USER {ADMIN}@'%' IDENTIFIED BY '{{password}}';
GRANT ALL ON *.* TO {ADMIN}@'%' WITH GRANT OPTION;
CREATE USER {PLAIN}@'%' IDENTIFIED BY '{{password}}';
GRANT ALL ON shop.* TO {PLAIN}@'%';
GRANT SELECT ON other.* TO {PLAIN}@'%';
CREATE USER {FILE_READER}@'%' IDENTIFIED BY '{{password}}';
GRANT ALL ON shop.* TO {FILE_READER}@'%';
GRANT FILE ON *.* TO {FILE_READER}@'%';
"""


@contextlib.contextmanager
def running_mariadb() -> Iterator[Foreign]:
    install, server = require_program("mariadb-install-db"), require_program("mariadbd")
    port = free_port()
    with owned_folder("mysql") as (folder, run_as):
        data, temporary = folder / "data", folder / "tmp"
        data.mkdir()
        temporary.mkdir()
        certificate = make_certificate(folder)
        setup = MARIADB_SETUP.format(password=PASSWORD.replace("\\", "\\\\").replace("'", "''"))
        (folder / "setup.sql").write_text("\n".join(line for line in setup.splitlines() if line))
        hand_over(folder, "mysql")
        # A server cleans its temporary folder, so it must not be another server's.
        places = ["--no-defaults", f"--datadir={data}", f"--tmpdir={temporary}"]
        made = [install, *places, "--skip-test-db"]
        subprocess.run(made, check=True, cwd=folder, stdout=subprocess.DEVNULL, **run_as)
        command = [
            *(server, *places, f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}"),
            *("--bind-address=127.0.0.1", f"--port={port}", "--character-set-server=utf8mb4"),
            *(f"--ssl-cert={folder / 'server.crt'}", f"--ssl-key={folder / 'server.key'}"),
            *(f"--init-file={folder / 'setup.sql'}", "--innodb-buffer-pool-size=16M", "--skip-log-bin"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2"),
        ]
        with run_program(command, "ready for connections", cwd=folder, **run_as):
            yield Foreign("mysql", port, folder, certificate)
