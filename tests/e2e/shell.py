"""One bash session in which the commands of a page are typed, one after the other."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Self

from tests.e2e.processes import ROOT

COMMAND_SECONDS = 90
_DONE = "the command is done"


class Shell:
    """A reader's shell: a folder that looks like the clone, and variables that last until it is closed."""

    def __init__(self, folder: Path, **env: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("docs", ".venv"):
            (folder / name).symlink_to(ROOT / name)
        if "RETINUE_DATA_DIR" in env:
            (folder / "data").symlink_to(env["RETINUE_DATA_DIR"])
        # A name in a guide that the server does not know is a fault of the guide.
        (folder / ".curlrc").write_text('header = "Prefer: handling=strict"\n')
        self.folder = folder
        self._output = folder.parent / f"{folder.name}.output"
        self._env = {
            "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            **env,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            "bash", "--norc", "--noprofile",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env=self._env, cwd=self.folder, start_new_session=True,
        )  # fmt: skip
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        # Whatever a page leaves running in the background goes with its shell.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def run(self, command: str) -> tuple[int, str]:
        """The exit code of a command and what it wrote to the terminal."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # In braces, so that variables and functions stay; the output goes to a file, so that nothing blocks.
        line = f"{{ {command}\n}} >{self._output} 2>&1 </dev/null; echo {_DONE} $?\n"
        self._process.stdin.write(line.encode())
        await self._process.stdin.drain()
        async with asyncio.timeout(COMMAND_SECONDS):
            answered = (await self._process.stdout.readline()).decode()
        assert answered.startswith(_DONE), f"the shell does not run this: {command}\n{answered}"
        return int(answered.removeprefix(_DONE)), self._output.read_text()
