"""The sandbox of this machine: it chooses a backend for each call and lets only so many run at once."""

import asyncio
import os
from pathlib import Path
from typing import Any

from retinue.adapters.sandbox.backend import Backend, Call
from retinue.adapters.sandbox.code import Code, Outcome, SandboxFailed
from retinue.adapters.sandbox.containers import Programs, Spawner, WarmPython
from retinue.adapters.sandbox.wasm import QuickJs, WasmPython


class LocalSandbox:
    """Nothing is started before the first call or the first question about the status."""

    def __init__(self, data_dir: Path, *, at_once: int | None = None) -> None:
        self._spawner = Spawner()
        node = Programs(data_dir, self._spawner, "javascript")
        python = Programs(data_dir, self._spawner, "python")
        # The first that works is used.
        self._functions: dict[str, list[Backend]] = {
            "javascript": [QuickJs(data_dir), node],
            "python": [WasmPython(data_dir), WarmPython(data_dir, self._spawner)],
        }
        self._programs: dict[str, list[Backend]] = {"javascript": [node], "python": [python]}
        self._free = asyncio.Semaphore(at_once or 2 * (os.cpu_count() or 1))

    async def run(self, code: Code, input: Any, *, timeout_s: float, memory_mb: int = 256) -> Outcome:
        backend = await self._choose(code)
        try:
            async with asyncio.timeout(timeout_s):
                await self._free.acquire()
        except TimeoutError:
            raise SandboxFailed(
                "sandbox_unavailable", "Too many functions and scripts are running."
            ) from None
        call = Call(code=code, timeout_s=timeout_s, memory_mb=memory_mb)
        return await backend.run(call, input, on_end=self._free.release)

    async def status(self) -> dict[str, str]:
        backends = self._backends()
        troubles = await asyncio.gather(*(backend.trouble() for backend in backends))
        return {backend.name: trouble or "ok" for backend, trouble in zip(backends, troubles, strict=True)}

    def known(self) -> dict[str, str]:
        """The same as far as it is known; nothing is started to find out."""
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
        raise SandboxFailed("sandbox_unavailable", f"No sandbox for this code: {'; '.join(troubles)}.")

    def _backends(self) -> list[Backend]:
        every = [*self._functions.values(), *self._programs.values()]
        return list(dict.fromkeys(backend for several in every for backend in several))
