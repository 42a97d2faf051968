"""Peers get an environment of their own, outside the repository, made once and kept as a temporary folder."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_PATIENCE_S = 900


class NotInstalled(Exception):
    """The peer cannot be installed here."""


def python_with(requirement: str, *others: str) -> str:
    """The Python of an environment that has exactly this requirement installed."""
    name = "".join(character if character.isalnum() else "-" for character in requirement)
    folder = Path(tempfile.gettempdir()) / "retinue-bench" / name
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _install(folder, python, [requirement, *others])
        complete.touch()
    return str(python)


def _install(folder: Path, python: Path, requirements: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    command: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *requirements,
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise NotInstalled(said[-1] if said else "it took too long") from error
