"""WebAssembly guests: JavaScript in QuickJS, Python in CPython built for WebAssembly."""

import asyncio
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from retinue.adapters.sandbox import guest_process
from retinue.adapters.sandbox.backend import (
    FIRST_UID,
    PROBE,
    Backend,
    ForkingBackend,
    SandboxCall,
    call_message,
)
from retinue.adapters.sandbox.bubblewrap import SandboxMissing
from retinue.adapters.sandbox.call_files import CallFiles, open_call_files
from retinue.adapters.sandbox.code import SandboxResult
from retinue.adapters.sandbox.guest_process import GUEST_GONE, CallEnded, Guest, RunningCall
from retinue.kit.json_types import JsonObject

_CALLS_PER_WORKER = 200
_MAX_IDLE_WORKERS = os.cpu_count() or 1
_WORKER_UID = FIRST_UID + 1


class QuickJsBackend(ForkingBackend):
    """Each call forks one process with a compiled QuickJS that has given up everything else."""

    name = "wasm.javascript"

    async def _open(self) -> None:
        self._guest = await guest_process.start("javascript", str(FIRST_UID))

    async def _escapes(self, attempts: JsonObject) -> list[str]:
        # JavaScript in WebAssembly cannot even try these, so the process around it does.
        with open_call_files(b"") as files:
            running = self._submit_call(PROBE, files, {"probe": attempts})
            escapes: list[str] = files.function_result(await running.ended).output
            return escapes


class WasmPythonBackend(Backend):
    """Workers that run one call at a time, each in a new WebAssembly instance; worn-out ones are replaced."""

    name = "wasm.python"

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._folder: Path | None = None
        self._workers: dict[Guest, int] = {}
        self._idle: list[Guest] = []
        self._closing: set[asyncio.Task[None]] = set()

    def _is_alive(self) -> bool:
        return self._folder is not None

    async def _open(self) -> None:
        if importlib.util.find_spec("eryx") is None:
            raise SandboxMissing("pyeryx is not installed; it needs Python 3.12 or newer")
        self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="retinue-"))
        if os.geteuid() == 0:
            os.chown(self._folder, _WORKER_UID, _WORKER_UID)
        # Unpack once with write access, so that processes that run code do not need it.
        await (await self._start("unpack")).close()

    async def _start(self, *options: str) -> Guest:
        return await guest_process.start("wasm_python", str(_WORKER_UID), str(self._folder), *options)

    async def _escapes(self, attempts: JsonObject) -> list[str]:
        with open_call_files(b"") as files:
            running = await self._submit_call(PROBE, files, {"probe": attempts})
            escapes: list[str] = files.function_result(await running.ended).output
            return escapes

    async def _begin(self, call: SandboxCall, files: CallFiles) -> RunningCall:
        return await self._submit_call(call, files, {})

    async def _submit_call(self, call: SandboxCall, files: CallFiles, extra: JsonObject) -> RunningCall:
        worker = self._idle.pop() if self._idle else await self._start()
        self._workers[worker] = self._workers.get(worker, 0) + 1
        running = worker.begin({**call_message(call), **extra}, [files.request, files.result, files.log])
        running.ended.add_done_callback(lambda _: self._release_worker(worker))
        return RunningCall(running.ended, worker.abandon)

    def _release_worker(self, worker: Guest) -> None:
        is_spent = worker.is_over or self._workers.get(worker, _CALLS_PER_WORKER) >= _CALLS_PER_WORKER
        if is_spent or len(self._idle) >= _MAX_IDLE_WORKERS:
            self._workers.pop(worker, None)
            closing = asyncio.get_running_loop().create_task(worker.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        else:
            self._idle.append(worker)

    def _read(self, call: SandboxCall, files: CallFiles, ended: CallEnded) -> SandboxResult:
        if ended is GUEST_GONE:
            raise files.failed("runtime_error", "The code crashed its interpreter.")
        return super()._read(call, files, ended)

    async def _end(self) -> None:
        workers = list(self._workers)
        self._workers.clear()
        self._idle.clear()
        for worker in workers:
            await worker.close()
        while self._closing:
            await asyncio.wait(self._closing)
        if self._folder:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None
