"""Starts bubblewrap for each call, under a separate user if the server is root, and watches its memory."""

import contextlib
import itertools
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import confine, fork_server

_MAX_FILES = 20_000
_RESIDENT = ("RssAnon:", "RssShmem:")
_PROPORTIONAL = ("Pss_Anon:", "Pss_Shmem:")
_STAGE = "/tmp"  # noqa: S108 - our own file system is mounted there first


def main() -> None:
    bubblewrap, first_uid = sys.argv[2], int(sys.argv[3])
    uids = itertools.cycle(range(first_uid, first_uid + 50_000))

    def start(message: dict[str, Any], descriptors: list[int]) -> int:
        uid = next(uids) if os.geteuid() == 0 else None
        return fork_server.fork_child(lambda: _exec_bubblewrap(bubblewrap, message, descriptors, uid))

    fork_server.run(lambda: start, _find_excess)


def _exec_bubblewrap(
    bubblewrap: str, message: dict[str, Any], descriptors: list[int], uid: int | None
) -> None:
    binds: list[tuple[str, str]] = message["binds"]
    if uid is not None:
        binds = _stage_binds(binds)
    confine.arrange(descriptors, message["places"])
    confine.limit(**message["limits"])
    if uid is not None:
        confine.become(uid)
    os.chdir("/")
    bind_options = [word for source, target in binds for word in ("--ro-bind", source, target)]
    os.execve(bubblewrap, [bubblewrap, *message["options"], *bind_options, *message["rest"]], {})  # noqa: S606


def _stage_binds(binds: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the binds from places that every user can reach: root's folders are closed to others."""
    confine.unshare(confine.CLONE_NEWNS)
    confine.mount("none", "/", None, confine.MS_REC | confine.MS_PRIVATE)
    opened = [os.open(source, os.O_PATH) for source, _ in binds]
    confine.mount("tmpfs", _STAGE, "tmpfs", 0, "mode=0755,size=1m")
    staged = []
    for number, (descriptor, (_, target)) in enumerate(zip(opened, binds, strict=True)):
        place = Path(_STAGE, str(number))
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            place.mkdir()
        else:
            place.touch()
        confine.mount(f"/proc/self/fd/{descriptor}", str(place), None, confine.MS_BIND | confine.MS_REC)
        staged.append((str(place), target))
    return staged


def _find_excess(pid: int, message: dict[str, Any]) -> str:
    """Return a reason to kill a sandbox; rlimits apply per process, this to all its processes and files."""
    max_kb = message["memory_mb"] * 1024
    # The resident size counts shared memory repeatedly, so it only triggers the expensive exact check.
    if _memory_kb(pid, "status", _RESIDENT) > max_kb < _memory_kb(pid, "smaps_rollup", _PROPORTIONAL):
        return "memory_exceeded"
    return "it created too many files" if _files(pid, message["tmp_bytes"]) > _MAX_FILES else ""


def _descendants(pid: int) -> Iterator[int]:
    for child in fork_server.child_pids(pid):
        yield child
        yield from _descendants(child)


def _memory_kb(pid: int, file: str, names: tuple[str, ...]) -> int:
    """Return the sum of these entries over all descendants."""
    total = 0
    for descendant in _descendants(pid):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{descendant}/{file}").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(names))
    return total


def _files(pid: int, tmp_bytes: int) -> int:
    """Return the number of files in the sandbox's own /tmp, or 0 if it is not mounted yet."""
    first = next(_descendants(pid), None)
    try:
        folder = os.statvfs(f"/proc/{first}/root/tmp")
    except OSError:
        return 0
    is_ours = folder.f_blocks * folder.f_frsize == tmp_bytes
    return folder.f_files - folder.f_ffree if is_ours else 0
