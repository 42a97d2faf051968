"""Code to run, its result, and the protocol of a sandbox."""

import re
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from retinue.kit.errors import InternalError
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.json_types import JsonObject

Runtime = Literal["python", "javascript"]
SandboxErrorKind = Literal[
    "runtime_error", "memory_exceeded", "output_too_large", "timeout", "sandbox_unavailable"
]

_MODULE_SYNTAX = re.compile(r"""^[ \t]*(?:import|export)(?:\s+[\w$]|\s*[*{"'])""", re.MULTILINE)
# Only the module itself can see its declarations, so it must look up names for us.
_MODULE_LOOKUP = "\n;globalThis.retinue.look = (name) => eval(name);\n"


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """A function given as text, or a script given as a file; `packages` is a folder from `packages.install`.

    Scripts must be in the scripts folder or among the uploaded files of the data dir; others are refused.
    """

    runtime: Runtime
    source: str = ""
    entrypoint: Path | None = None
    packages: Path | None = None

    def request(self, input: Any) -> JsonObject:
        """Return the message that tells a guest program about a function."""
        is_module = self.runtime == "javascript" and _MODULE_SYNTAX.search(self.source) is not None
        source = self.source + _MODULE_LOOKUP if is_module else self.source
        return {"source": source, "input": input, "is_module": is_module}


class SandboxResult(msgspec.Struct, frozen=True, kw_only=True):
    output: Any
    logs: str
    cpu_ms: float | None


class SandboxFailed(InternalError):
    """The code could not be run. Check its error and logs."""

    def __init__(
        self, kind: SandboxErrorKind, message: str, *, logs: str = "", cpu_ms: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.logs = logs
        self.cpu_ms = cpu_ms


class CodeSupport(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a kind of code can run here; `trouble` says why not, and is empty if it can."""

    kind: str
    backend: str
    trouble: str
    is_missing: bool
    """Whether it cannot only because programs are not installed."""


class Sandbox(Protocol):
    async def run(
        self,
        code: Code,
        input: object,
        *,
        timeout_s: float,
        memory_mb: int = 256,
        requester: QueuedCaller = NOBODY,
    ) -> SandboxResult: ...

    async def status(self) -> dict[str, str]:
        """Return "ok" or the reason why it is unusable for each backend."""

    async def support(self) -> list[CodeSupport]:
        """Return which kinds of code can run, and by which backend."""

    async def close(self) -> None: ...
