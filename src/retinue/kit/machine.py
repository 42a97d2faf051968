"""Facts about this machine that not every system tells in the same way."""

import os


def available_cores() -> int:
    """Return how many cores this process may use; all of the machine's where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
