"""A process with a warm QuickJS, compiled to WebAssembly; each call forks it.

It gives up files, addresses and root before its first call; children also give up most system calls.
"""

import ctypes
import gc
import os
import sys
import time
from json import dumps
from pathlib import Path
from typing import Any

from . import call_io, confine, filters, fork_server, function

_HERE = Path(__file__).parent
_MODULE = "main.mjs"
_MAX_LOG_BYTES = 64 * 1024
_MEMORY_EXCEEDED = "The code exceeded its memory limit."


class QuickJsEngine:
    """A QuickJS instance that has run no user code; each forked child uses it once."""

    def __init__(self) -> None:
        from quickjs_rs import Runtime

        runtime = Runtime(memory_limit=None)
        runtime.set_module_loader(load=self._module)
        self._source = ""
        self._logged = 0
        # The server enforces the timeout; this value is only longer than any.
        self._context = runtime.new_context(timeout=24 * 3600)
        self._context.register("log", self._log)
        for name in ("function.js", "quickjs.js"):
            self._context.eval(_HERE.joinpath(name).read_text())

    def answer(self) -> str:
        from quickjs_rs import JSError, MemoryLimitError, QuickJSError

        request = call_io.request()
        try:
            return function.output(
                self._run(request["source"], dumps(request["input"]), is_module=request["is_module"])
            )
        except MemoryLimitError:
            return function.failure("memory_exceeded", _MEMORY_EXCEEDED)
        except JSError as error:
            self._log(f"{error}\n{error.stack or ''}")
            if "invalid array buffer length" in error.message:
                return function.failure("memory_exceeded", _MEMORY_EXCEEDED)
            return function.failure("runtime_error", str(error))
        except (QuickJSError, RuntimeError) as error:
            return function.failure("runtime_error", str(error))
        except Exception as error:  # noqa: BLE001 - a trap of the engine, such as a stack overflow
            return function.failure(
                "runtime_error", f"The code crashed its interpreter: {type(error).__name__}."
            )

    def _run(self, source: str, input: str, *, is_module: bool) -> str:
        self._source = source
        if is_module:
            begin = f"retinue.begin({dumps(source)}, values, {dumps(input)}) ?? retinue.pending"
            script = f"retinue.pending = import('{_MODULE}').then((values) => {begin}); null"
        else:
            script = f"{source}\n;retinue.begin({dumps(source)}, undefined, {dumps(input)})"
        text = self._context.eval(script)
        while not isinstance(text, str):
            # There is no public way to run pending jobs without an event loop, which would double the cost.
            self._context._engine_ctx.run_pending_jobs()  # noqa: SLF001
            text = self._context.eval("retinue.step()")
            if not isinstance(text, str):
                _sleep(text)
        return text

    def _module(self, name: str) -> str | None:
        return self._source if name == _MODULE else None

    def _log(self, line: str) -> None:
        content = f"{line}\n".encode(errors="replace")[: _MAX_LOG_BYTES - self._logged]
        self._logged += os.write(1, content)


def _sleep(ms: float) -> None:
    if ms < 0:
        raise RuntimeError("the function awaits a promise that never settles")
    time.sleep(ms / 1000)


def main() -> None:
    fork_server.run(_prepare)


def _prepare() -> fork_server.StartChild:
    engine = QuickJsEngine()
    own_bytes = _data_bytes()
    if os.geteuid() == 0:
        confine.become(int(sys.argv[2]))
    confine.limit(core=0, nofile=256)
    confine.hide()
    confine.gain_nothing()
    # Without Landlock, the filter alone keeps children from files and addresses.
    confine.landlock()
    program, parent = filters.for_computing(), os.getpid()
    # Memory left over from compiling would be copied page by page for every child.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    gc.freeze()
    gc.disable()

    def start(message: dict[str, Any], descriptors: list[int]) -> int:
        def child() -> None:
            confine.die_with(parent)
            call_io.keep_call_descriptors(descriptors)
            # A guest reserves gigabytes of address space at once, so the limit applies to writable memory.
            confine.limit(**message["limits"], data=own_bytes + message["memory_mb"] * 1024 * 1024)
            confine.filter_calls(program)
            call_io.reply(call_io.probe(message["probe"]) if "probe" in message else engine.answer())

        return fork_server.fork_child(child)

    return start


def _data_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
