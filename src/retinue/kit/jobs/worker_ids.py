"""Ids of workers: a dead worker on this machine is recognized at once, before its leases expire."""

import functools
import hashlib
import os
import secrets
import socket
from pathlib import Path


def machine_id() -> str:
    """Return an id of this host, its boot and the PID namespace; a random one if these cannot be read."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        pid_namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot, pid_namespace = secrets.token_hex(8), ""
    digest = hashlib.sha256(f"{boot}{pid_namespace}".encode()).hexdigest()[:12]
    return f"{socket.gethostname()}/{digest}"


_own_worker_ids: set[str] = set()


def new_worker_id() -> str:
    worker_id = f"{machine_id()}:{os.getpid()}:{secrets.token_hex(4)}"
    _own_worker_ids.add(worker_id)
    return worker_id


@functools.cache
def _id_of_process(_pid: int) -> str:
    return new_worker_id()


def process_worker_id() -> str:
    """Return the id under which this process holds leases that end with it."""
    return _id_of_process(os.getpid())


def is_known_dead(worker: str) -> bool:
    """Return whether the worker ran on this machine and its process has ended."""
    machine, _, pid = worker.rpartition(":")[0].rpartition(":")
    if machine != machine_id() or not pid.isdigit() or worker in _own_worker_ids:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # The process id is ours but the worker is not: an earlier process had the same id.
    return int(pid) == os.getpid()
