"""The Pythons of this machine that can run Retinue: in PATH, Debian's own, and those of pyenv."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 11)
SYSTEM = Path("/usr/bin/python3")
PATIENCE_SECONDS = 20
_NAME = re.compile(r"python3(\.\d+)?")
_PROBE = """
import ensurepip, sys, venv
assert sys.prefix == sys.base_prefix, "an environment of another Python"
print(sys.executable)
print(*sys.version_info)
"""


@dataclass(frozen=True)
class Python:
    path: Path
    version: tuple[int, int, int]
    is_final: bool = True

    def __str__(self) -> str:
        return f"Python {'.'.join(map(str, self.version))} ({self.path})"


def probe(path: Path) -> Python | None:
    """Ask an interpreter for its version; None if it does not start, is too old or has no venv."""
    try:
        asked = subprocess.run(  # noqa: S603  an interpreter, and a program of ours
            [path, "-I", "-c", _PROBE], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
        )
        executable, version = asked.stdout.splitlines()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    major, minor, micro, level, _ = version.split()
    found = Python(Path(executable), (int(major), int(minor), int(micro)), level == "final")
    return found if found.version >= OLDEST else None


def candidates() -> list[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(pyenv.glob("versions/*/bin"))
    named = [
        path
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if _NAME.fullmatch(path.name)
    ]
    return [SYSTEM, *named]


def installed() -> list[Python]:
    """Return each usable version once, the newest first; of the same version, Debian's own stands for it."""
    found: dict[tuple[int, int, int], Python] = {}
    seen: set[Path] = set()
    for path in candidates():
        if path.resolve() not in seen and (python := probe(path)) is not None:
            found.setdefault(python.version, python)
        seen.add(path.resolve())
    return sorted(found.values(), key=lambda python: (python.is_final, python.version), reverse=True)
