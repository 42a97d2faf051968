"""Tests in TypeScript that a Python test feeds: with cases of the server, or with the address of one."""

import os
import subprocess
import sys
from pathlib import Path

_CONSOLE_BUILD = Path(__file__).parents[1] / "packaging" / "console_build.py"


def run_vitest(path: str, **environment: str) -> None:
    """Run a test file of the console's workspace; all of its tests must run and pass."""
    ran = subprocess.run(
        [sys.executable, str(_CONSOLE_BUILD), "test", path],
        env={**os.environ, **environment, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert " passed" in ran.stderr
    assert " skipped" not in ran.stderr, ran.stderr
