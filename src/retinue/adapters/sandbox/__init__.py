"""Runs user code in a WebAssembly guest or in bubblewrap, never in a process of the server (ADR 9)."""

from retinue.adapters.sandbox.code import Code, Sandbox, SandboxFailed, SandboxResult
from retinue.adapters.sandbox.local import LocalSandbox

__all__ = ["Code", "LocalSandbox", "Sandbox", "SandboxFailed", "SandboxResult"]
