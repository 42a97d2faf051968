"""The `retinue` command beside a server process, with the same settings."""

import asyncio
import os
from dataclasses import dataclass

from tests.e2e.processes import ROOT, ServerProcess

PATIENCE_S = 120


@dataclass
class Ran:
    code: int
    output: str
    errors: str


async def start_command(server: ServerProcess, *arguments: str, **env: str) -> asyncio.subprocess.Process:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RETINUE_")}
    return await asyncio.create_subprocess_exec(
        server.python, "-m", "retinue.cli", *arguments,
        env={**inherited, **server.env, **env}, cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def run_command(server: ServerProcess, *arguments: str, **env: str) -> Ran:
    process = await start_command(server, *arguments, **env)
    try:
        async with asyncio.timeout(PATIENCE_S):
            output, errors = await process.communicate()
    except TimeoutError:
        process.kill()
        raise
    assert process.returncode is not None
    return Ran(process.returncode, output.decode(), errors.decode())
