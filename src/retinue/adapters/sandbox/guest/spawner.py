"""Starts bubblewrap for each call, as a user of its own when the server is root, and watches its memory."""

import contextlib
import itertools
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import confine, nursery

_MOST_FILES = 20_000
_RESIDENT = ("RssAnon:", "RssShmem:")
_PROPORTIONAL = ("Pss_Anon:", "Pss_Shmem:")
_STAGE = "/tmp"  # noqa: S108 - covered by a file system of our own before anything is put there


def main() -> None:
    bubblewrap, first_uid = sys.argv[2], int(sys.argv[3])
    uids = itertools.cycle(range(first_uid, first_uid + 50_000))

    def start(message: dict[str, Any], descriptors: list[int]) -> int:
        uid = next(uids) if os.geteuid() == 0 else None
        return nursery.forked(lambda: _enter(bubblewrap, message, descriptors, uid))

    nursery.run(lambda: start, _excess)


def _enter(bubblewrap: str, message: dict[str, Any], descriptors: list[int], uid: int | None) -> None:
    binds: list[tuple[str, str]] = message["binds"]
    if uid is not None:
        binds = _staged(binds)
    confine.arrange(descriptors, message["places"])
    confine.limit(**message["limits"])
    if uid is not None:
        confine.become(uid)
    os.chdir("/")
    mounted = [word for source, target in binds for word in ("--ro-bind", source, target)]
    os.execve(bubblewrap, [bubblewrap, *message["options"], *mounted, *message["rest"]], {})  # noqa: S606


def _staged(binds: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same binds from places that every user may reach: root's own folders are closed to others."""
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


def _excess(pid: int, message: dict[str, Any]) -> str:
    """Rlimits hold for one process each; this is for all of a sandbox together, and for its files."""
    most_kb = message["memory_mb"] * 1024
    # What processes share counts for each of them here, so it is only a reason to look closer, which is dear.
    if _memory_kb(pid, "status", _RESIDENT) > most_kb < _memory_kb(pid, "smaps_rollup", _PROPORTIONAL):
        return "memory_exceeded"
    return "it made too many files" if _files(pid, message["tmp_bytes"]) > _MOST_FILES else ""


def _descendants(pid: int) -> Iterator[int]:
    for child in nursery.children(pid):
        yield child
        yield from _descendants(child)


def _memory_kb(pid: int, file: str, names: tuple[str, ...]) -> int:
    """The sum of these entries of all processes below this one."""
    total = 0
    for each in _descendants(pid):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{each}/{file}").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(names))
    return total


def _files(pid: int, tmp_bytes: int) -> int:
    """How many files are in the sandbox's own folder, once it is there."""
    first = next(_descendants(pid), None)
    try:
        folder = os.statvfs(f"/proc/{first}/root/tmp")
    except OSError:
        return 0
    is_ours = folder.f_blocks * folder.f_frsize == tmp_bytes
    return folder.f_files - folder.f_ffree if is_ours else 0
