"""Starts a program of the server's own with less than the server has: `limited LIMITS PROGRAM …`."""

import json
import os
import sys

from . import confine


def main() -> None:
    limits, program, *arguments = sys.argv[2:]
    os.umask(0o022)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    confine.limit(**json.loads(limits))
    os.execv(program, [program, *arguments])  # noqa: S606 - no shell is what we want
