"""The ways code gets into the sandbox, and canaries around it that nothing may reach."""

import contextlib
import os
import secrets
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from retinue.adapters.sandbox import Code, LocalSandbox, SandboxFailed, SandboxResult
from retinue.adapters.sandbox.backend import Backend, SandboxCall

CANARY = f"canary-{secrets.token_hex(8)}"
PYTHON = ["wasm.python", "bubblewrap.python_functions", "bubblewrap.python"]
JAVASCRIPT = ["wasm.javascript", "bubblewrap.node"]


def needs(program: str) -> None:
    """Debian has it in a package; on a machine that tests every change it must be there."""
    if shutil.which(program):
        return
    if os.environ.get("CI"):
        pytest.fail(f"{program} is not installed, and the sandbox tests need it")
    pytest.skip(f"{program} is not installed")


class Way:
    """A backend and how code is given to it."""

    def __init__(self, backend: Backend, **more: Any) -> None:
        self._backend = backend
        self._more = more
        self.name = backend.name
        self.runtime = more["runtime"]

    async def __call__(
        self, source: str, input: Any = None, *, timeout_s: float = 10, memory_mb: int = 128
    ) -> SandboxResult:
        assert await self._backend.trouble() == ""
        code = Code(source=source, **self._more)
        return await self._backend.run(
            SandboxCall(code=code, timeout_s=timeout_s, memory_mb=memory_mb), input
        )


def backend(sandbox: LocalSandbox, name: str) -> Backend:
    return next(each for each in sandbox._backends() if each.name == name)


def on(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", names, indirect=True)


class Canaries:
    """Servers outside the sandbox that note who came."""

    def __init__(self, folder: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.tcp = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.unix = self._listening(str(folder / "canary.sock"))
        self.abstract = self._listening(f"\0{CANARY}")
        (folder / "canary.sock").chmod(0o777)

    def _listening(self, address: str) -> socket.socket:
        listening = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(address)
        listening.listen()
        return listening

    def visitors(self) -> list[str]:
        found = []
        for name, server in vars(self).items():
            if isinstance(server, socket.socket):
                server.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    server.recv(1) if server is self.udp else server.accept()[0].close()
                    found.append(name)
        return found

    def close(self) -> None:
        self._stack.close()


async def failure(running: Any) -> SandboxFailed:
    with pytest.raises(SandboxFailed) as failed:
        await running
    return failed.value


def orphans() -> set[int]:
    """Running processes of bubblewrap that nobody waits for."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found[int(folder.name)] = parent, (folder / "cmdline").read_bytes()
    starters = (b"bwrap", b"guest/start.py")
    return {
        pid
        for pid, (parent, command) in found.items()
        if b"bwrap\0--unshare-all" in command
        and not any(name in found.get(parent, (0, b""))[1] for name in starters)
    }


def descendants(pid: int) -> set[int]:
    """All processes below one."""
    found = set()
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                found |= {child, *descendants(child)}
    return found
