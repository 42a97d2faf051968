"""Facts about this machine that not every system tells in the same way."""

import os
import resource

MAX_DESCRIPTORS = 65_536
"""More open files than a server has ever use for; some systems set no limit, and walk through all of it."""


def available_cores() -> int:
    """Return how many cores this process may use; all of the machine's where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def reachable_descriptors() -> int:
    """Return how many files a server started here may have open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    reachable = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    return reachable if soft == resource.RLIM_INFINITY else max(soft, reachable)


def raise_descriptor_limit() -> None:
    """Raise the limit of open files to what is allowed: a login shell sets 1024, one for each connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = reachable_descriptors()
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
