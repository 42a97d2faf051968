"""A process with CPython, built for WebAssembly; it runs one call at a time, each in an instance of its own.

It cannot be forked, for its engine has threads; the server replaces it after a while, or when it kills it.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from . import calling, confine, filters, function
from .control import Control

_LONGEST_LOG = 64 * 1024
_LONGEST_CALL_MS = 24 * 3600 * 1000
_RUNNER = Path(__file__).with_name("function.py").read_text()
# Compiling the runner takes the guest longer than most functions, so its own compiled form is kept.
_COMPILE = "import marshal\nresult = marshal.dumps(compile({!r}, 'function.py', 'exec')).hex()"
# The engine runs this in an event loop, so it can be awaited but not run in another one.
_CALL = """import marshal
exec(marshal.loads(bytes.fromhex('{}')))
with Answer() as made:
    value = begin({!r}, json.loads({!r}))
    made.give(await value if hasattr(value, "__await__") else value)
result = made.text
"""


def main() -> None:
    """`wasm_python UID FOLDER [unpack]`: unlocked, the engine unpacks its library into the folder."""
    uid, folder, *rest = sys.argv[2:]
    control = Control()
    runner = control.prepared(lambda: _prepare(int(uid), folder, is_unpacking=bool(rest)))
    while runner and (received := control.receive()) is not None:
        message, descriptors = received
        if "start" in message:
            control.say(_served(runner, message, descriptors))


def _prepare(uid: int, folder: str, *, is_unpacking: bool) -> str:
    os.environ["TMPDIR"] = folder
    import eryx

    if os.geteuid() == 0:
        confine.become(uid)
    confine.limit(core=0, nofile=256)
    confine.hide()
    confine.gain_nothing()
    if not is_unpacking:
        if not confine.landlock([folder]):
            raise OSError("this kernel has no Landlock")
        confine.filter_calls(filters.for_computing_with_threads())
    # The first call starts the engine's threads, and they inherit all this.
    try:
        return str(_execute(_COMPILE.format(_RUNNER), memory_mb=64).result)
    except eryx.EryxError as error:
        raise RuntimeError(str(error)) from None


def _served(runner: str, message: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    request, result, log = descriptors
    started = time.process_time()
    if "probe" in message:
        text = calling.probe(message["probe"])
    else:
        text = _answer(runner, calling.request(request), message["memory_mb"], log)
    calling.reply(text, result)
    for descriptor in descriptors:
        os.close(descriptor)
    cpu_ms = round((time.process_time() - started) * 1000, 3)
    return {"done": message["start"], "status": 0, "cpu_ms": cpu_ms}


def _answer(runner: str, request: dict[str, Any], memory_mb: int, log: int) -> str:
    import eryx

    try:
        call = _CALL.format(runner, request["source"], json.dumps(request["input"]))
        done = _execute(call, memory_mb)
    except eryx.EryxError as error:
        last = (str(error).strip().splitlines() or ["it crashed"])[-1]
        kind = "memory_exceeded" if "memory" in last.lower() else "runtime_error"
        return function.failure(kind, last)
    os.write(log, (done.stdout + done.stderr)[:_LONGEST_LOG])
    return str(done.result)


def _execute(code: str, memory_mb: int) -> Any:
    import eryx

    limits = eryx.ResourceLimits(
        execution_timeout_ms=_LONGEST_CALL_MS, max_memory_bytes=memory_mb * 1024 * 1024
    )
    return eryx.Sandbox(resource_limits=limits).execute(code)
