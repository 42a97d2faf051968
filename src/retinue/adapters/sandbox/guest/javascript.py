"""A process with QuickJS, compiled to WebAssembly, ready to run; each call is a fork of it.

The process gives up files, addresses and root before its first call, a child also nearly every system call.
"""

import ctypes
import gc
import os
import sys
import time
from json import dumps
from pathlib import Path
from typing import Any

from . import calling, confine, filters, function, nursery

_HERE = Path(__file__).parent
_MODULE = "main.mjs"
_LONGEST_LOG = 64 * 1024
_TOO_MUCH = "The code used more memory than it may."


class Engine:
    """One QuickJS that has run nothing of a user; a forked child uses it once."""

    def __init__(self) -> None:
        from quickjs_rs import Runtime

        runtime = Runtime(memory_limit=None)
        runtime.set_module_loader(load=self._module)
        self._source = ""
        self._logged = 0
        # The server ends what takes too long; this is only more than it ever waits.
        self._context = runtime.new_context(timeout=24 * 3600)
        self._context.register("log", self._log)
        for name in ("function.js", "quickjs.js"):
            self._context.eval(_HERE.joinpath(name).read_text())

    def answer(self) -> str:
        from quickjs_rs import JSError, MemoryLimitError, QuickJSError

        asked = calling.request()
        try:
            return function.output(
                self._run(asked["source"], dumps(asked["input"]), is_module=asked["is_module"])
            )
        except MemoryLimitError:
            return function.failure("memory_exceeded", _TOO_MUCH)
        except JSError as error:
            self._log(f"{error}\n{error.stack or ''}")
            if "invalid array buffer length" in error.message:
                return function.failure("memory_exceeded", _TOO_MUCH)
            return function.failure("runtime_error", str(error))
        except (QuickJSError, RuntimeError) as error:
            return function.failure("runtime_error", str(error))
        except Exception as error:  # noqa: BLE001 - a trap of the engine, for one when its stack overflows
            return function.failure(
                "runtime_error", f"The code crashed its interpreter: {type(error).__name__}."
            )

    def _run(self, source: str, given: str, *, is_module: bool) -> str:
        self._source = source
        if is_module:
            begin = f"retinue.begin({dumps(source)}, values, {dumps(given)}) ?? retinue.pending"
            started = f"retinue.pending = import('{_MODULE}').then((values) => {begin}); null"
        else:
            started = f"{source}\n;retinue.begin({dumps(source)}, undefined, {dumps(given)})"
        text = self._context.eval(started)
        while not isinstance(text, str):
            # There is no public way to run what awaits without an event loop, which would double the cost.
            self._context._engine_ctx.run_pending_jobs()  # noqa: SLF001
            text = self._context.eval("retinue.step()")
            if not isinstance(text, str):
                _sleep(text)
        return text

    def _module(self, name: str) -> str | None:
        return self._source if name == _MODULE else None

    def _log(self, line: str) -> None:
        written = f"{line}\n".encode(errors="replace")[: _LONGEST_LOG - self._logged]
        self._logged += os.write(1, written)


def _sleep(ms: float) -> None:
    if ms < 0:
        raise RuntimeError("the function waits for something that cannot happen")
    time.sleep(ms / 1000)


def main() -> None:
    nursery.run(_prepare)


def _prepare() -> nursery.Start:
    engine = Engine()
    own_bytes = _data_bytes()
    if os.geteuid() == 0:
        confine.become(int(sys.argv[2]))
    confine.limit(core=0, nofile=256)
    confine.hide()
    confine.gain_nothing()
    # Where the kernel has no Landlock, the filter alone keeps a child from files and addresses.
    confine.landlock()
    program, parent = filters.for_computing(), os.getpid()
    # What compiling left behind would be copied, page by page, for every child.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    gc.freeze()
    gc.disable()

    def start(message: dict[str, Any], descriptors: list[int]) -> int:
        def child() -> None:
            confine.die_with(parent)
            calling.settle(descriptors)
            # A guest's memory is reserved in one piece of gigabytes, so the limit is on what it can write to.
            confine.limit(**message["limits"], data=own_bytes + message["memory_mb"] * 1024 * 1024)
            confine.filter_calls(program)
            calling.reply(calling.probe(message["probe"]) if "probe" in message else engine.answer())

        return nursery.forked(child)

    return start


def _data_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
