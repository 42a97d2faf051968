"""A real sshd of our own, with three host keys and one key that may log in."""

import contextlib
import getpass
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from tests.adapters.foreign_databases import free_port, require_program, run_program

CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host-ssh-ed25519
HostKey {folder}/host-ecdsa-sha2-nistp256
HostKey {folder}/host-ssh-rsa
PidFile none
AuthorizedKeysFile {folder}/authorized
PasswordAuthentication yes
PubkeyAuthentication yes
PermitRootLogin yes
StrictModes no
UsePAM no
LogLevel VERBOSE
"""
KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")


@dataclass
class Sshd:
    port: int
    username: str
    key: asyncssh.SSHKey
    fingerprints: dict[str, str]
    lines: list[str]

    def said(self) -> str:
        return "".join(self.lines)


@contextlib.contextmanager
def running_sshd(folder: Path) -> Iterator[Sshd]:
    program, port = require_program("sshd"), free_port()
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    hosts = {kind: asyncssh.generate_private_key(kind) for kind in KINDS}
    for kind, host in hosts.items():
        path = folder / f"host-{kind}"
        path.write_bytes(host.export_private_key())
        path.chmod(0o600)
    key = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "authorized").write_bytes(key.export_public_key())
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    fingerprints = {kind: host.get_fingerprint() for kind, host in hosts.items()}
    with run_program([program, "-D", "-e", "-f", folder / "config"], "Server listening") as lines:
        yield Sshd(port, getpass.getuser(), key, fingerprints, lines)
