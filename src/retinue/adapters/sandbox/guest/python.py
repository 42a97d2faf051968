"""A warm interpreter inside bubblewrap; each call forks it and shares nothing with other calls.

A child gets its own process, mount and IPC namespaces and its own folder, loses all capabilities and may make
few system calls. Code and input never pass through this process, so no later child can find them.
"""

import gc
import os
import sys
from typing import Any

from . import call_io, confine, filters, fork_server, function

# Memory of the interpreter itself, on top of what the code may use.
_OWN_MB = 64
_FOLDER = f"size={call_io.MAX_FILE_BYTES},nr_inodes=1024,mode=0700"

# Preloaded once here instead of in every call.
_PRELOADED = (
    "asyncio base64 collections contextlib copy csv ctypes dataclasses datetime decimal enum fractions "
    "functools hashlib hmac html io itertools json math operator random re secrets statistics string struct "
    "textwrap time typing unicodedata urllib.parse uuid zoneinfo"
)


def main() -> None:
    fork_server.run(_prepare)


def _prepare() -> fork_server.StartChild:
    # To create a namespace per child, this process must be inside one that it owns.
    confine.unshare(confine.CLONE_NEWPID)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    here = os.pidfd_open(os.getpid())
    for name in _PRELOADED.split():
        __import__(name)
    program = filters.for_functions()
    confine.hide()
    gc.collect()
    gc.freeze()

    def start(message: dict[str, Any], descriptors: list[int]) -> int:
        confine.unshare(confine.CLONE_NEWPID)
        try:
            return fork_server.fork_child(lambda: _call(program, message, descriptors))
        finally:
            confine.enter(here, confine.CLONE_NEWPID)

    return start


def _call(program: bytes, message: dict[str, Any], descriptors: list[int]) -> None:
    call_io.keep_call_descriptors(descriptors)
    confine.unshare(confine.CLONE_NEWNS | confine.CLONE_NEWIPC)
    confine.mount("tmpfs", "/tmp", "tmpfs", confine.MS_NOSUID | confine.MS_NODEV, _FOLDER)  # noqa: S108 - its own
    os.chdir("/tmp")  # noqa: S108
    confine.drop_capabilities()
    confine.gain_nothing()
    confine.limit(**message["limits"], **{"as": (message["memory_mb"] + _OWN_MB) * 1024 * 1024})
    confine.filter_calls(program)
    request = call_io.request()
    text = function.answer(request["source"], request["input"])
    sys.stdout.flush()
    sys.stderr.flush()
    call_io.reply(text)
