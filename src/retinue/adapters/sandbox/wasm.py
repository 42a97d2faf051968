"""WebAssembly guests: JavaScript in QuickJS, Python in CPython built for WebAssembly."""

import asyncio
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from retinue.adapters.sandbox import guests
from retinue.adapters.sandbox.backend import FIRST_UID, PROBE, Backend, Call, Forking, told
from retinue.adapters.sandbox.bubblewrap import Missing
from retinue.adapters.sandbox.calls import Files, files
from retinue.adapters.sandbox.code import Outcome
from retinue.adapters.sandbox.guests import GONE, Begun, Ended, Guest

_CALLS_PER_WORKER = 200
_MOST_IDLE = os.cpu_count() or 1
_WORKER_UID = FIRST_UID + 1


class QuickJs(Forking):
    """Each call is a fork of one process that has QuickJS compiled and has given up everything else."""

    name = "wasm.javascript"

    async def _open(self) -> None:
        self._guest = await guests.start("javascript", str(FIRST_UID))

    async def _escapes(self, attempts: dict[str, Any]) -> list[str]:
        # JavaScript inside WebAssembly cannot even try, so the process around it tries in its place.
        with files(b"") as opened:
            begun = self._hand_over(PROBE, opened, {"probe": attempts})
            worked: list[str] = opened.answered(await begun.ended).output
            return worked


class WasmPython(Backend):
    """Workers that run one call at a time, each in a new WebAssembly instance; spent ones are replaced."""

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
            raise Missing("pyeryx is not installed; it needs Python 3.12 or newer")
        self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="retinue-"))
        if os.geteuid() == 0:
            os.chown(self._folder, _WORKER_UID, _WORKER_UID)
        # Once with the right to write, so that no process that runs code needs it.
        await (await self._start("unpack")).close()

    async def _start(self, *more: str) -> Guest:
        return await guests.start("wasm_python", str(_WORKER_UID), str(self._folder), *more)

    async def _escapes(self, attempts: dict[str, Any]) -> list[str]:
        with files(b"") as opened:
            begun = await self._hand_over(PROBE, opened, {"probe": attempts})
            worked: list[str] = opened.answered(await begun.ended).output
            return worked

    async def _begin(self, call: Call, opened: Files) -> Begun:
        return await self._hand_over(call, opened, {})

    async def _hand_over(self, call: Call, opened: Files, more: dict[str, Any]) -> Begun:
        worker = self._idle.pop() if self._idle else await self._start()
        self._workers[worker] = self._workers.get(worker, 0) + 1
        begun = worker.begin({**told(call), **more}, [opened.request, opened.result, opened.log])
        begun.ended.add_done_callback(lambda _: self._return(worker))
        return Begun(begun.ended, worker.abandon)

    def _return(self, worker: Guest) -> None:
        is_spent = worker.is_over or self._workers.get(worker, _CALLS_PER_WORKER) >= _CALLS_PER_WORKER
        if is_spent or len(self._idle) >= _MOST_IDLE:
            self._workers.pop(worker, None)
            closing = asyncio.get_running_loop().create_task(worker.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        else:
            self._idle.append(worker)

    def _read(self, call: Call, opened: Files, ended: Ended) -> Outcome:
        if ended is GONE:
            raise opened.failed("runtime_error", "The code crashed its interpreter.")
        return super()._read(call, opened, ended)

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
