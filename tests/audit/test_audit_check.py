"""`retinue audit check`, and the checker in another language that the guide prints."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import retinue
from tests.audit.reading import export_of
from tests.client import Api

GUIDE = Path(retinue.__file__).parents[2] / "docs/guides/audit.md"


@pytest.mark.either_database
async def test_the_command_proves_an_export_without_the_server(owner: Api, tmp_path: Path) -> None:
    lines = await export_of(owner)
    keys = await owner.get("/.well-known/retinue-audit-keys.json")
    (tmp_path / "keys.json").write_bytes(keys.body)

    def check(content: list[bytes]) -> subprocess.CompletedProcess[str]:
        (tmp_path / "audit.jsonl").write_bytes(b"".join(content))
        command = [
            sys.executable,
            "-m",
            "retinue.cli",
            "audit",
            "check",
            "audit.jsonl",
            "--keys",
            "keys.json",
        ]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    whole = check(lines)
    assert (whole.returncode, whole.stdout.startswith("intact: rows 1 to ")) == (0, True)
    cut = check(lines[:-1])
    assert (cut.returncode, "cut off" in cut.stderr) == (1, True)
    (tmp_path / "keys.json").write_bytes(b"{}")
    unreadable = check(lines)
    assert (unreadable.returncode, unreadable.stderr.startswith("keys.json: ")) == (1, True)


async def test_the_checker_of_the_guide_follows_the_chain(owner: Api, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    (code,) = re.findall(r"```js\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "check.js").write_text(code)
    lines = await export_of(owner)
    for content, says in ((lines, f"{len(lines) - 1} rows fit"), ([*lines[:2], *lines[3:]], "does not fit")):
        (tmp_path / "audit.jsonl").write_bytes(b"".join(content))
        command = [node, "check.js", "audit.jsonl"]
        told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert says in told.stdout
