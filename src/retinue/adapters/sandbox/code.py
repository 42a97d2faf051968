"""Code to run, what came of it, and what a sandbox is."""

import re
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from retinue.kit.errors import RetinueError

Runtime = Literal["python", "javascript"]
Kind = Literal["runtime_error", "memory_exceeded", "output_too_large", "timeout", "sandbox_unavailable"]

_MODULE_SYNTAX = re.compile(r"""^[ \t]*(?:import|export)(?:\s+[\w$]|\s*[*{"'])""", re.MULTILINE)
# What a module declares is seen by nobody else, so it has to look its own names up.
_LOOK = "\n;globalThis.retinue.look = (name) => eval(name);\n"


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """A function, given as text, or a script, given as a file; packages are what `packages.install` made.

    A script lies below the scripts folder or among the uploaded files of the data dir; no other is run.
    """

    runtime: Runtime
    source: str = ""
    entrypoint: Path | None = None
    packages: Path | None = None

    def request(self, input: Any) -> dict[str, Any]:
        """What a guest program is told about a function."""
        is_module = self.runtime == "javascript" and _MODULE_SYNTAX.search(self.source) is not None
        source = self.source + _LOOK if is_module else self.source
        return {"source": source, "input": input, "is_module": is_module}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    output: Any
    logs: str
    cpu_ms: float | None


class SandboxFailed(RetinueError):
    """The code could not be run."""

    status, code = 422, "runtime_error"

    def __init__(self, kind: Kind, message: str, *, logs: str = "", cpu_ms: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.logs = logs
        self.cpu_ms = cpu_ms


class Sandbox(Protocol):
    async def run(self, code: Code, input: Any, *, timeout_s: float, memory_mb: int = 256) -> Outcome: ...

    async def status(self) -> dict[str, str]:
        """For each backend "ok" or why it cannot be used."""

    async def close(self) -> None: ...
