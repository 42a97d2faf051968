"""Starts one of the server's own programs with lower limits: `run_limited LIMITS PROGRAM …`."""

import json
import os
import sys

from . import confine


def main() -> None:
    limits, program, *arguments = sys.argv[2:]
    # Packages installed by root are read by other users in sandboxes.
    os.umask(0o022 if os.geteuid() == 0 else 0o077)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    confine.limit(**json.loads(limits))
    os.execv(program, [program, *arguments])  # noqa: S606 - deliberately without a shell
