"""A module of ours that needs only the standard library, run by every Python of this machine."""

import functools
import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.pythons import Python, installed

_PROGRAM = """
import importlib.util, json, sys

given = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("tried", given["file"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
scope = {"module": module}
exec(given["program"], scope)
json.dump([scope["tried"](case) for case in given["cases"]], sys.stdout)
"""


@functools.cache
def pythons() -> tuple[Python, ...]:
    return tuple(installed())


def answers(module: ModuleType, program: str, cases: list[Any]) -> dict[str, list[Any]]:
    """Return the results of a program's `tried(case)` for each case, by the version of Python."""
    assert module.__file__
    given = json.dumps({"file": str(Path(module.__file__).resolve()), "program": program, "cases": cases})
    return {
        str(python): json.loads(
            subprocess.run(
                [python.path, "-I", "-c", _PROGRAM], input=given, capture_output=True, text=True, check=True
            ).stdout
        )
        for python in pythons()
    }
