"""The pure parts of the widget, run by Node where there is one; users need none."""

import json
import shutil
import subprocess
from importlib import resources
from typing import Any

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed; the widget's parts are not run")

SHARED = resources.files("retinue.kit.http").joinpath("assets", "elements.js").read_text("utf-8")


def source(name: str) -> str:
    return resources.files("retinue.embed").joinpath("assets", name).read_text("utf-8")


def evaluate(names: tuple[str, ...], expression: str, given: Any) -> Any:
    """Return the value of an expression over `given`, in the scope of these files."""
    program = "\n".join(
        [
            'const given = JSON.parse(require("fs").readFileSync(0, "utf8"));',
            SHARED,
            *map(source, names),
            f"Promise.resolve({expression}).then((value) => console.log(JSON.stringify(value)));",
        ]
    )
    done = subprocess.run(
        [NODE or "node", "-e", program],
        input=json.dumps(given),
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
