"""Reaping of processes that others left behind."""

import os
from collections.abc import Collection


def reap_orphans(own: Collection[int]) -> int:
    """Reap ended children except our own, whose exit codes somebody waits for; return how many."""
    if not hasattr(os, "waitid"):
        return 0
    count = 0
    while True:
        try:
            # A look that leaves it there: it may be one of our own.
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return count
        if ended is None or ended.si_pid in own:
            return count
        os.waitpid(ended.si_pid, os.WNOHANG)
        count += 1
