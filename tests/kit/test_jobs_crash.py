import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from retinue.kit.db.databases import direct_url
from tests.kit.workshop import PATIENCE_S, workshop_on

FAILPOINTS = (
    "after_claim",
    "before_job_commit",
    "after_job_commit",
    "before_finish",
    "after_finish",
    "before_relay_commit",
    "after_relay_commit",
    "before_commit",
    "after_commit",
)
CASES = [*(f"{name}:1" for name in FAILPOINTS), "before_job_commit:2", "before_finish:2", "after_commit:3"]
ONCE = {"one": 1, "two": 1, "three": 1}


@pytest.mark.campaign
async def test_a_worker_killed_anywhere_loses_nothing_and_does_nothing_twice(databases, tmp_path):
    async with workshop_on(databases, tmp_path) as workshop:
        lines = await sweep(tmp_path, direct_url(workshop.instance.settings))
    unharmed, *swept = lines
    assert unharmed["outside"] == ONCE
    assert unharmed["marks"] == ONCE | {f"counted {name}": 1 for name in ONCE}
    assert len(swept) == 2 * len(CASES)
    for found, case in zip(swept[::2], swept[1::2], strict=True):
        assert case["ends"] == [-signal.SIGKILL, 0], case
        assert found["marks"] == unharmed["marks"], case
        assert found["events"] == unharmed["events"], case
        assert set(found["outside"]) == set(ONCE), case
        assert sum(found["outside"].values()) <= 2 * len(ONCE), case
        assert (found["jobs"], found["waiting"]) == (0, 0), case


async def sweep(folder: Path, url: str) -> list[dict]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.kit.crash_sweep",
        str(folder),
        url,
        *CASES,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(6 * PATIENCE_S):
        output, _ = await process.communicate()
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]
