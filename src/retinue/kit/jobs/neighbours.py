"""Workers on this machine: one that is gone can be told at once, without waiting for its leases."""

import hashlib
import os
import secrets
import socket
from pathlib import Path


def machine() -> str:
    """This host since it was booted, as processes that see each other's numbers see it; unique if unsure."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot, numbers = secrets.token_hex(8), ""
    mark = hashlib.sha256(f"{boot}{numbers}".encode()).hexdigest()[:12]
    return f"{socket.gethostname()}/{mark}"


_of_this_process: set[str] = set()


def new_worker_id() -> str:
    made = f"{machine()}:{os.getpid()}:{secrets.token_hex(4)}"
    _of_this_process.add(made)
    return made


def is_surely_gone(worker: str) -> bool:
    """Whether a worker ran on this machine and its process has ended."""
    place, _, number = worker.rpartition(":")[0].rpartition(":")
    if place != machine() or not number.isdigit() or worker in _of_this_process:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # The number is ours, but the worker is not: it had the number before this process got it.
    return int(number) == os.getpid()
