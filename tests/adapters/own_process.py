"""Memory and child processes of the process that runs the tests."""

import contextlib
from pathlib import Path


def resident() -> int:
    """The bytes of memory in use, without files, whose pages come and go with the load of the machine."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def children() -> list[int]:
    """The processes it has started and not yet seen the end of."""
    found: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        # A thread may end while we look; its children are another thread's then.
        with contextlib.suppress(OSError):
            found += map(int, listed.read_text().split())
    return sorted(found)
