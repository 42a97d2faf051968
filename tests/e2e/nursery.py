"""Processes of the program that start in no time: forked from one that has imported everything already.

What runs in them is the command itself, as `python -m retinue.cli` would run it. The nursery takes one order
in each line and answers with the number of the process.
"""

import asyncio
import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Self

from tests.e2e.processes import ROOT, launch_process

_PR_SET_PDEATHSIG = 1


class Child:
    """A process that somebody else reaps, at once."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.was_killed = False

    @property
    def is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    async def wait(self, seconds: float) -> bool:
        """Wait up to this time; return whether the process has ended."""
        until = asyncio.get_running_loop().time() + seconds
        while self.is_alive:
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(0.01)
        return True

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            self.was_killed = True

    async def stop(self) -> bool:
        """Ask the process to stop; return whether it did."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        return await self.wait(20)


class Nursery:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children_log = folder / "children.log"
        self._process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        self._process = await launch_process(
            self._folder / "nursery.log", {}, "-m", "tests.e2e.nursery", is_piped=True
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ends the nursery; its children end with it."""
        self._process.kill()
        await self._process.wait()

    @property
    def log(self) -> str:
        """Return the output of the children."""
        return self._children_log.read_text()

    async def start(self, env: dict[str, str], *arguments: str, mutant: str = "") -> Child:
        """`retinue` with these arguments, and these settings only; a mutant breaks one promise."""
        order = {"env": env, "log": str(self._children_log), "arguments": arguments, "mutant": mutant}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return Child(int(await asyncio.wait_for(self._process.stdout.readline(), 30)))


def _become(order: dict[str, Any]) -> None:
    """The command, in the process that was forked for it."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(log, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(order["env"])
    sys.argv = ["retinue", *order["arguments"]]
    if order["mutant"]:
        from tests.e2e.mutants import become

        become(order["mutant"])
    from retinue.cli import main

    main()


def _serve() -> None:
    for module in ("retinue.app", "retinue.cli.serve_command", "retinue.worker"):
        importlib.import_module(module)
    os.chdir(ROOT)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Unbuffered: what was read ahead would be in every child as well.
    orders = os.fdopen(0, "rb", buffering=0, closefd=False)
    while line := orders.readline():
        child = os.fork()
        if not child:
            try:
                _become(json.loads(line))
            finally:
                os._exit(1)
        os.write(1, b"%d\n" % child)


if __name__ == "__main__":
    _serve()
