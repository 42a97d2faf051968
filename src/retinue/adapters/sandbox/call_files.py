"""The descriptors of one call, and the result its process left in them."""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from retinue.adapters.sandbox.code import SandboxErrorKind, SandboxFailed, SandboxResult
from retinue.adapters.sandbox.guest.call_io import MAX_FILE_BYTES
from retinue.adapters.sandbox.guest.function import MAX_OUTPUT_BYTES
from retinue.adapters.sandbox.guest_process import CallEnded

MAX_LOG_BYTES = 8 * 1024

_SEALED = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_MAX_MESSAGE_LENGTH = 2000
_MEMORY_SIGNS = ("MemoryError", "JavaScript heap out of memory", "Array buffer allocation failed")
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGTRAP}


class FunctionReply(msgspec.Struct):
    output: Any = None
    kind: SandboxErrorKind | None = None
    error: str = ""


class CallFiles(msgspec.Struct, frozen=True):
    """In-memory files instead of pipes: writing never blocks, and the content survives a killed process."""

    request: int
    result: int
    log: int

    def logs(self) -> str:
        return os.pread(self.log, MAX_LOG_BYTES, 0).decode(errors="replace")

    def failed(self, kind: SandboxErrorKind, message: str, ended: CallEnded | None = None) -> SandboxFailed:
        cpu_ms = ended.cpu_ms if ended else None
        return SandboxFailed(kind, message[:_MAX_MESSAGE_LENGTH], logs=self.logs(), cpu_ms=cpu_ms)

    def function_result(self, ended: CallEnded) -> SandboxResult:
        """Return the function's output; raise SandboxFailed for any other outcome."""
        code = self._exit_code(ended)
        try:
            # The output is wrapped in an object of a few more bytes.
            reply = msgspec.json.decode(self._result(ended, MAX_OUTPUT_BYTES + 100), type=FunctionReply)
        except (msgspec.MsgspecError, RecursionError):
            raise self.failed(
                "runtime_error", f"The code ended without a result, exit code {code}.", ended
            ) from None
        if reply.kind:
            raise self.failed(reply.kind, reply.error, ended)
        return SandboxResult(output=reply.output, logs=self.logs(), cpu_ms=ended.cpu_ms)

    def script_result(self, ended: CallEnded) -> SandboxResult:
        """Return the script's standard output, which must be JSON or empty."""
        code = self._exit_code(ended)
        text = self._result(ended, MAX_OUTPUT_BYTES).strip()
        if code:
            last = self.logs().strip().splitlines()[-1:] or [f"exit code {code}"]
            raise self.failed(_error_kind(last[0]), f"The script failed: {last[0]}", ended)
        try:
            output = msgspec.json.decode(text) if text else None
        except (msgspec.MsgspecError, RecursionError):
            shown = text[:200].decode(errors="replace")
            message = f"The script must write one JSON value to standard output, but wrote: {shown}"
            raise self.failed("runtime_error", message, ended) from None
        return SandboxResult(output=output, logs=self.logs(), cpu_ms=ended.cpu_ms)

    def _result(self, ended: CallEnded, max_bytes: int) -> bytes:
        written = os.fstat(self.result).st_size
        if written > max_bytes:
            raise self.failed("output_too_large", "The output is larger than 1 MiB.", ended)
        return os.pread(self.result, written, 0)

    def _exit_code(self, ended: CallEnded) -> int:
        """Return the exit code of a process that ended by itself; raise SandboxFailed for any other end."""
        if ended.status == -1:
            raise self.failed("sandbox_unavailable", f"The sandbox failed: {ended.reason}.", ended)
        if ended.reason == "memory_exceeded":
            raise self.failed("memory_exceeded", "The code exceeded its memory limit.", ended)
        if ended.reason:
            raise self.failed("runtime_error", f"The code was stopped: {ended.reason}.", ended)
        if os.fstat(self.log).st_size >= MAX_FILE_BYTES:
            raise self.failed("output_too_large", "The code wrote more than 16 MiB of logs.", ended)
        code = os.waitstatus_to_exitcode(ended.status)
        # Bubblewrap reports a signal as shells do: 128 plus its number.
        number = -code if code < 0 else code - 128
        if number == signal.SIGXCPU:
            raise self.failed("timeout", "The code exceeded its CPU time limit.", ended)
        if number == signal.SIGXFSZ:
            raise self.failed("output_too_large", "The code wrote a file that is too large.", ended)
        if number in _CRASHES:
            message = f"The code crashed: {signal.Signals(number).name}."
            raise self.failed(_error_kind(self.logs()), message, ended)
        return code


def _error_kind(output_text: str) -> SandboxErrorKind:
    return "memory_exceeded" if any(sign in output_text for sign in _MEMORY_SIGNS) else "runtime_error"


def process_limits(timeout_s: float) -> dict[str, int]:
    """Return the limits of each process; CPU time is a fallback for processes that outlive their timeout."""
    return {"core": 0, "nofile": 256, "fsize": MAX_FILE_BYTES, "memlock": 0, "cpu": int(timeout_s) + 2}


@contextmanager
def open_call_files(request: bytes) -> Iterator[CallFiles]:
    opened = [memory_file("request", request), memory_file("result"), memory_file("log")]
    try:
        yield CallFiles(*opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def memory_file(name: str, content: bytes | None = None) -> int:
    """Create an in-memory file; with content it is sealed against writes."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    if content is not None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALED)
    return descriptor
