"""A process with CPython for WebAssembly; it runs one call at a time, each in its own instance.

Its engine has threads, so it cannot be forked; the server replaces it after a while or after killing it.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from . import call_io, confine, filters, function
from .control import Control

_MAX_LOG_BYTES = 64 * 1024
_MAX_CALL_MS = 24 * 3600 * 1000
_RUNNER = Path(__file__).with_name("function.py").read_text()
# Compiling the runner takes longer than most functions, so its compiled form is kept.
_COMPILE = "import marshal\nresult = marshal.dumps(compile({!r}, 'function.py', 'exec')).hex()"
# The engine runs this in an event loop, so a result can be awaited, but not run in another loop.
_CALL = """import marshal
exec(marshal.loads(bytes.fromhex('{}')))
with ResultCapture() as capture:
    value = begin({!r}, json.loads({!r}))
    capture.give(await value if hasattr(value, "__await__") else value)
result = capture.text
"""


def main() -> None:
    """`wasm_python UID FOLDER [unpack]`: with `unpack`, it is not locked down and unpacks its library."""
    uid, folder, *rest = sys.argv[2:]
    control = Control()
    runner = control.prepare_and_report(lambda: _prepare(int(uid), folder, is_unpacking=bool(rest)))
    while runner and (received := control.receive()) is not None:
        message, descriptors = received
        if "start" in message:
            control.report(_serve_call(runner, message, descriptors))


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
    # The first call starts the engine's threads, which inherit the lockdown.
    try:
        return str(_execute(_COMPILE.format(_RUNNER), memory_mb=64).result)
    except eryx.EryxError as error:
        raise RuntimeError(str(error)) from None


def _serve_call(runner: str, message: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    request, result, log = descriptors
    started = time.process_time()
    if "probe" in message:
        text = call_io.probe(message["probe"])
    else:
        text = _answer(runner, call_io.request(request), message["memory_mb"], log)
    call_io.reply(text, result)
    for descriptor in descriptors:
        os.close(descriptor)
    cpu_ms = round((time.process_time() - started) * 1000, 3)
    return {"done": message["start"], "status": 0, "cpu_ms": cpu_ms}


def _answer(runner: str, request: dict[str, Any], memory_mb: int, log: int) -> str:
    import eryx

    try:
        call = _CALL.format(runner, request["source"], json.dumps(request["input"]))
        result = _execute(call, memory_mb)
    except eryx.EryxError as error:
        last = (str(error).strip().splitlines() or ["it crashed"])[-1]
        kind = "memory_exceeded" if "memory" in last.lower() else "runtime_error"
        return function.failure(kind, last)
    os.write(log, (result.stdout + result.stderr)[:_MAX_LOG_BYTES])
    return str(result.result)


def _execute(code: str, memory_mb: int) -> Any:
    import eryx

    limits = eryx.ResourceLimits(execution_timeout_ms=_MAX_CALL_MS, max_memory_bytes=memory_mb * 1024 * 1024)
    return eryx.Sandbox(resource_limits=limits).execute(code)
