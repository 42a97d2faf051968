"""The image is built from Debian's packages, and its server becomes ready with a read-only root."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("buildah", "mmdebstrap", "bwrap", "curl")


@pytest.mark.slow
def test_both_targets_are_built_and_become_ready() -> None:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    ran = subprocess.run(
        ROOT / "scripts" / "image.sh",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4_000:]
    for target in ("base", "all"):
        assert re.search(rf"^{target}: \d+ MB", ran.stdout, re.MULTILINE)
        assert f'{target}: /health/ready answers {{"status":"ok"' in ran.stdout
        assert f"{target}: it runs as user 10001, with a read-only root" in ran.stdout
