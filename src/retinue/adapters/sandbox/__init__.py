"""Running code of users: in a WebAssembly guest or in bubblewrap, never in a process of ours."""

from retinue.adapters.sandbox.code import Code, Outcome, Sandbox, SandboxFailed
from retinue.adapters.sandbox.local import LocalSandbox

__all__ = ["Code", "LocalSandbox", "Outcome", "Sandbox", "SandboxFailed"]
