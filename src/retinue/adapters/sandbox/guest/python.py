"""Inside bubblewrap: an interpreter that is already started; each call is a fork of it with nothing shared.

A child gets a process, a mount and an IPC namespace and a folder of its own, loses all capabilities and may
make few system calls. Neither code nor input passes through this process, so no later child can find any.
"""

import gc
import os
import sys
from typing import Any

from . import calling, confine, filters, function, nursery

# What the interpreter itself occupies, on top of what the code may use.
_OWN_MB = 64
_FOLDER = f"size={calling.LARGEST_FILE},nr_inodes=1024,mode=0700"

# Loaded once here instead of in every call that asks for them.
_PRELOADED = (
    "asyncio base64 collections contextlib copy csv ctypes dataclasses datetime decimal enum fractions "
    "functools hashlib hmac html io itertools json math operator random re secrets statistics string struct "
    "textwrap time typing unicodedata urllib.parse uuid zoneinfo"
)


def main() -> None:
    nursery.run(_prepare)


def _prepare() -> nursery.Start:
    # To open a namespace for each child, this process must be inside one that it owns.
    confine.unshare(confine.CLONE_NEWPID)
    inside = os.fork()
    if inside:
        os.waitpid(inside, 0)
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
            return nursery.forked(lambda: _call(program, message, descriptors))
        finally:
            confine.enter(here, confine.CLONE_NEWPID)

    return start


def _call(program: bytes, message: dict[str, Any], descriptors: list[int]) -> None:
    calling.settle(descriptors)
    confine.unshare(confine.CLONE_NEWNS | confine.CLONE_NEWIPC)
    confine.mount("tmpfs", "/tmp", "tmpfs", confine.MS_NOSUID | confine.MS_NODEV, _FOLDER)  # noqa: S108 - its own
    os.chdir("/tmp")  # noqa: S108
    confine.drop_capabilities()
    confine.gain_nothing()
    confine.limit(**message["limits"], **{"as": (message["memory_mb"] + _OWN_MB) * 1024 * 1024})
    confine.filter_calls(program)
    request = calling.request()
    text = function.answer(request["source"], request["input"])
    sys.stdout.flush()
    sys.stderr.flush()
    calling.reply(text)
