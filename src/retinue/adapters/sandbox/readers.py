"""Processes that read untrusted files (documents, sheets, pictures), each locked down before it reads one."""

import os
from pathlib import Path

_START = Path(__file__).parent / "guest" / "reader_start.py"
_SOURCE = Path(__file__).parents[3]


def reader_command(program: str, libraries: str, *arguments: str) -> tuple[str, ...]:
    """Return the arguments of `subprocesses.python_subprocess` for `program.main(our pid, *arguments)`."""
    return ("-S", str(_START), str(_SOURCE), libraries, program, str(os.getpid()), *arguments)
