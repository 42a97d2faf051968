"""A reader who types the commands of a page into a shell and compares what is printed."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from tests.e2e.printed import difference
from tests.e2e.processes import ServerProcess, free_port
from tests.e2e.shell import Shell
from tests.e2e.transcripts import README, TYPED, Step, steps_of

LOOK_AGAIN_SECONDS = 30
USUAL_PORT, SECOND_PORT = "8080", "8081"
SIGN_IN = "Sign in"
_PORT = re.compile(rf"\b(?:{USUAL_PORT}|{SECOND_PORT})\b")
Typed = Callable[["Reader"], Awaitable[str]]


class Reader:
    """Follows pages in one shell; `typed` says what a reader types in where a page says so."""

    def __init__(self, shell: Shell, port: int, typed: dict[str, Typed]) -> None:
        self.shell = shell
        self._ports = {USUAL_PORT: str(port), SECOND_PORT: str(free_port())}
        self._typed = typed
        self.outputs: dict[str, str] = {}

    async def follow(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if not step.not_run:
                await self._take(step)

    async def _take(self, step: Step) -> None:
        command = self._here(step.command)
        if step.typed_name:
            shown = TYPED.fullmatch(command)
            assert shown is not None
            command = command.replace(shown[2], f"'{await self._typed[step.typed_name](self)}'", 1)
        deadline = time.monotonic() + LOOK_AGAIN_SECONDS
        while True:
            code, output = await self.shell.run(command)
            wrong = f"exit code {code}" if code else difference(self._here(step.printed), output.strip())
            if not wrong or not step.is_look or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.2)
        assert not wrong, f"{step}: {wrong}\n$ {command}\n{output}\n--- printed:\n{step.printed}"
        self.outputs[step.command] = output

    def _here(self, text: str) -> str:
        """The pages name the usual port, and one beside it; the servers of a test have others."""
        return _PORT.sub(lambda found: self._ports[found[0]], text)


def shell_beside(server: ServerProcess, folder: Path) -> Shell:
    """A shell on the machine of this server, in which `retinue` finds the server's settings."""
    return Shell(folder, **server.env)


def sign_in() -> list[Step]:
    """Return the README's commands that sign in; every guide begins with them."""
    return [step for step in steps_of(README) if step.section == SIGN_IN]
