"""Starting `rotating.py` beside a service, and killing it."""

import asyncio
import json
import os
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("rotating.py")
PATIENCE_S = 60


async def start_rotation(service, operation, *, failpoints=""):
    """The process of a rotation of the service's database."""
    settings = {
        "data_dir": str(service.settings.data_dir),
        "database_url": service.settings.database_url,
        "failpoints": failpoints,
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETINUE_")}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(SCRIPT),
        operation,
        json.dumps(settings),
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run_rotation(service, operation, *, failpoints=""):
    """Its return code (-9 when a failpoint killed it) and what it printed."""
    process = await start_rotation(service, operation, failpoints=failpoints)
    output, errors = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode in {0, -9}, errors.decode()
    return process.returncode, output
