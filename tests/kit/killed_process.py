"""Rotations of a service's database in other processes, which may be killed."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from retinue.kit.db.databases import direct_url
from tests.kit.rotating import Ended, Order

SCRIPT = Path(__file__).with_name("rotating.py")
PATIENCE_S = 60


class Rotations:
    def __init__(self, process):
        self._process = process

    async def run(self, service, what, **more):
        """One rotation from its start to its end, or to its death."""
        settings = service.settings
        order = Order(what=what, data_dir=str(settings.data_dir), database_url=direct_url(settings), **more)
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE_S)
        return msgspec.json.decode(line, type=Ended)


@asynccontextmanager
async def rotations():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETINUE_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SCRIPT),
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Rotations(process)
    finally:
        process.stdin.close()
        await process.wait()
