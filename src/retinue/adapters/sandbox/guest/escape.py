"""Escape attempts, made inside a sandbox before it is trusted with user code."""

import ctypes
import os
import socket
from collections.abc import Callable

_PTRACE_TRACEME = 0
_CLONE_NEWUSER = 0x10000000
# Variables that the sandbox itself sets; any other comes from the server.
_OWN_VARIABLES = {"PATH", "HOME", "LANG", "LC_CTYPE", "PWD", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR"}


def successes(paths: dict[str, str], port: int, *, may_fork: bool) -> list[str]:
    """Return the attempts that succeeded: reading these files, reaching this port, and others."""
    attempts: dict[str, Callable[[], bool]] = {f"read {name}": _reader(path) for name, path in paths.items()}
    attempts |= {
        "read the server's environment": _sees_server_environment,
        "read the environment of process 1": _reader("/proc/1/environ"),
        "open a network connection": lambda: _connects(port),
        "be root": lambda: 0 in os.getresuid() + os.getresgid(),
        "signal the process that started it": _signals_parent,
        "open a user namespace": lambda: _libc().unshare(_CLONE_NEWUSER) == 0,
        "mount": lambda: _libc().mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0,
    }
    if not may_fork:
        attempts["start a process"] = _forks
    # Last, because if it succeeds every signal stops the process.
    attempts["trace processes"] = lambda: _libc().ptrace(_PTRACE_TRACEME, 0, 0, 0) == 0
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _succeeds(attempt: Callable[[], bool]) -> bool:
    try:
        return attempt()
    except OSError:
        return False


def _reader(path: str) -> Callable[[], bool]:
    def can_read() -> bool:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return bool(os.read(descriptor, 1))
        finally:
            os.close(descriptor)

    return can_read


def _sees_server_environment() -> bool:
    return bool(set(os.environ) - _OWN_VARIABLES)


def _connects(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        client.connect(("127.0.0.1", port))
        return True


def _signals_parent() -> bool:
    parent = os.getppid()
    if parent <= 1:
        return False
    os.kill(parent, 0)
    return True


def _forks() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
