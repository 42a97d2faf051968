"""The sandbox of this machine: chooses a backend per call and limits concurrent calls."""

import asyncio
import os
from pathlib import Path

from retinue.adapters.sandbox.backend import Backend, SandboxCall
from retinue.adapters.sandbox.code import Code, CodeSupport, SandboxFailed, SandboxResult
from retinue.adapters.sandbox.containers import ProgramBackend, Spawner, WarmPythonBackend
from retinue.adapters.sandbox.wasm import QuickJsBackend, WasmPythonBackend
from retinue.kit.fair_queue import NOBODY, FairQueue, QueuedCaller, QueueFull
from retinue.kit.metrics import declarations as metrics

_RUNTIMES = {"javascript": "JavaScript", "python": "Python"}


class LocalSandbox:
    """Starts nothing before the first call or status request."""

    def __init__(self, data_dir: Path, *, at_once: int | None = None) -> None:
        self._spawner = Spawner()
        node = ProgramBackend(data_dir, self._spawner, "javascript")
        python = ProgramBackend(data_dir, self._spawner, "python")
        # The first usable backend is chosen.
        self._functions: dict[str, list[Backend]] = {
            "javascript": [QuickJsBackend(data_dir), node],
            "python": [WasmPythonBackend(data_dir), WarmPythonBackend(data_dir, self._spawner)],
        }
        self._programs: dict[str, list[Backend]] = {"javascript": [node], "python": [python]}
        self._places = FairQueue(at_once or 2 * (os.cpu_count() or 1), max_waiting=256)

    async def run(
        self,
        code: Code,
        input: object,
        *,
        timeout_s: float,
        memory_mb: int = 256,
        requester: QueuedCaller = NOBODY,
    ) -> SandboxResult:
        try:
            async with asyncio.timeout(timeout_s):
                leave = await self._places.enter(requester)
        except (TimeoutError, QueueFull):
            raise SandboxFailed(
                "sandbox_unavailable", "Too many functions and scripts are running. Try again later."
            ) from None
        try:
            # Last: a backend that was found alive is used at once, before it can come to rest.
            backend = await self._choose(code)
        except BaseException:
            leave()
            raise
        call = SandboxCall(code=code, timeout_s=timeout_s, memory_mb=memory_mb)
        status = "cancelled"
        try:
            result = await backend.run(call, input, on_end=leave)
            status = "completed"
        except SandboxFailed as error:
            status = error.kind
            raise
        finally:
            metrics.SANDBOX_RUNS.count(backend.name, status)
        return result

    async def status(self) -> dict[str, str]:
        backends = self._backends()
        troubles = await asyncio.gather(*(backend.trouble() for backend in backends))
        return {backend.name: trouble or "ok" for backend, trouble in zip(backends, troubles, strict=True)}

    async def support(self) -> list[CodeSupport]:
        """Test every backend, then say for each kind of code which one would run it."""
        await self.status()
        return [
            self._support_of(f"{_RUNTIMES[runtime]} {what}", backends)
            for table, what in ((self._functions, "functions"), (self._programs, "scripts and packages"))
            for runtime, backends in table.items()
        ]

    @staticmethod
    def _support_of(kind: str, backends: list[Backend]) -> CodeSupport:
        usable = next((backend for backend in backends if backend.standing == "ok"), None)
        troubles = [] if usable else [f"{backend.name}: {backend.standing}" for backend in backends]
        return CodeSupport(
            kind=kind,
            backend=usable.name if usable else "",
            trouble="; ".join(troubles),
            is_missing=bool(troubles) and all(backend.is_missing for backend in backends),
        )

    def known(self) -> dict[str, str]:
        """Return the last known status without starting anything."""
        return {backend.name: backend.standing for backend in self._backends()}

    async def close(self) -> None:
        for backend in self._backends():
            await backend.close()
        await self._spawner.close()

    async def _choose(self, code: Code) -> Backend:
        table = self._programs if code.entrypoint or code.packages else self._functions
        troubles = []
        for backend in table[code.runtime]:
            trouble = await backend.trouble()
            if not trouble:
                return backend
            troubles.append(f"{backend.name}: {trouble}")
        raise SandboxFailed("sandbox_unavailable", f"No sandbox can run this code: {'; '.join(troubles)}.")

    def _backends(self) -> list[Backend]:
        backend_lists = [*self._functions.values(), *self._programs.values()]
        return list(dict.fromkeys(backend for backends in backend_lists for backend in backends))
