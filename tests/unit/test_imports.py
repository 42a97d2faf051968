"""Tests that large libraries are not imported at start, to save memory and time."""

import subprocess
import sys

LATER = ("alembic", "av", "onnxruntime", "pymysql", "sqlglot", "PIL")


def test_large_libraries_are_imported_when_they_are_needed() -> None:
    code = f"import sys, retinue.app; print([name for name in {LATER!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
