"""Lockdown of a process that reads one untrusted file: it keeps only its memory and its open pipes."""

import contextlib
import os
import resource

from retinue.adapters.sandbox.guest import confine, filters

_NOBODY = 65534


def yield_to_server() -> None:
    """Let the server come first when CPU or memory is scarce."""
    os.setpriority(os.PRIO_PROCESS, 0, 5)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib is slow to load
        score.write("500")


def lock_down(parent: int, *, memory_bytes: int, cpu_seconds: int) -> None:
    """Give up root, files, addresses, processes and most system calls.

    Raises OSError if the kernel cannot confine the process.
    """
    if os.geteuid() == 0:
        confine.become(_NOBODY)
    confine.drop_capabilities()
    confine.hide()
    # Only now, because changing the user resets it.
    confine.die_with(parent)
    confine.limit(core=0, fsize=0, nproc=0, nofile=16, **{"as": memory_bytes})
    confine.limit(cpu=cpu_seconds + 1)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    # The soft limit's signal tells what happened; SIGKILL of the hard limit could have any cause.
    resource.setrlimit(resource.RLIMIT_CPU, (min(cpu_seconds, hard), hard))
    confine.gain_nothing()
    if not confine.landlock():
        raise OSError("this kernel has no Landlock")
    confine.filter_calls(filters.for_computing())
