"""The descriptors of one call, and what its process left in them."""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from retinue.adapters.sandbox.code import Kind, Outcome, SandboxFailed
from retinue.adapters.sandbox.guest.calling import LARGEST_FILE
from retinue.adapters.sandbox.guest.function import LARGEST_OUTPUT
from retinue.adapters.sandbox.guests import Ended

LONGEST_LOG = 8 * 1024

_SEALED = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_LONGEST_MESSAGE = 2000
_MEMORY_SIGNS = ("MemoryError", "JavaScript heap out of memory", "Array buffer allocation failed")
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGTRAP}


class Answer(msgspec.Struct):
    output: Any = None
    kind: Kind | None = None
    error: str = ""


class Files(msgspec.Struct, frozen=True):
    """Files in memory instead of pipes: nobody waits for a reader, and they outlive a killed process."""

    request: int
    result: int
    log: int

    def logs(self) -> str:
        return os.pread(self.log, LONGEST_LOG, 0).decode(errors="replace")

    def failed(self, kind: Kind, message: str, ended: Ended | None = None) -> SandboxFailed:
        cpu_ms = ended.cpu_ms if ended else None
        return SandboxFailed(kind, message[:_LONGEST_MESSAGE], logs=self.logs(), cpu_ms=cpu_ms)

    def answered(self, ended: Ended) -> Outcome:
        """What a function returned."""
        code = self._exit_code(ended)
        try:
            # The output stands in an object of a few more bytes.
            answer = msgspec.json.decode(self._result(ended, LARGEST_OUTPUT + 100), type=Answer)
        except (msgspec.MsgspecError, RecursionError):
            raise self.failed(
                "runtime_error", f"The code ended without an answer, exit code {code}.", ended
            ) from None
        if answer.kind:
            raise self.failed(answer.kind, answer.error, ended)
        return Outcome(output=answer.output, logs=self.logs(), cpu_ms=ended.cpu_ms)

    def printed(self, ended: Ended) -> Outcome:
        """What a script wrote to its output, which has to be JSON or nothing."""
        code = self._exit_code(ended)
        text = self._result(ended, LARGEST_OUTPUT).strip()
        if code:
            last = self.logs().strip().splitlines()[-1:] or [f"exit code {code}"]
            raise self.failed(_kind(last[0]), f"The script failed: {last[0]}", ended)
        try:
            output = msgspec.json.decode(text) if text else None
        except (msgspec.MsgspecError, RecursionError):
            shown = text[:200].decode(errors="replace")
            message = f"The script must write one JSON value to its output; it wrote: {shown}"
            raise self.failed("runtime_error", message, ended) from None
        return Outcome(output=output, logs=self.logs(), cpu_ms=ended.cpu_ms)

    def _result(self, ended: Ended, most: int) -> bytes:
        written = os.fstat(self.result).st_size
        if written > most:
            raise self.failed("output_too_large", "The output is larger than 1 MiB.", ended)
        return os.pread(self.result, written, 0)

    def _exit_code(self, ended: Ended) -> int:
        """The code of a process that ended by itself; every other end is raised as what it means."""
        if ended.status == -1:
            raise self.failed("sandbox_unavailable", f"The sandbox failed: {ended.reason}.", ended)
        if ended.reason == "memory_exceeded":
            raise self.failed("memory_exceeded", "The code used more memory than it may.", ended)
        if ended.reason:
            raise self.failed("runtime_error", f"The code was stopped: {ended.reason}.", ended)
        if os.fstat(self.log).st_size >= LARGEST_FILE:
            raise self.failed("output_too_large", "The code wrote more than 16 MiB of logs.", ended)
        code = os.waitstatus_to_exitcode(ended.status)
        # Bubblewrap reports a signal as a shell does: 128 and its number.
        number = -code if code < 0 else code - 128
        if number == signal.SIGXCPU:
            raise self.failed("timeout", "The code used all the processor time it may.", ended)
        if number == signal.SIGXFSZ:
            raise self.failed("output_too_large", "The code wrote a file that is too large.", ended)
        if number in _CRASHES:
            message = f"The code crashed: {signal.Signals(number).name}."
            raise self.failed(_kind(self.logs()), message, ended)
        return code


def _kind(said: str) -> Kind:
    return "memory_exceeded" if any(sign in said for sign in _MEMORY_SIGNS) else "runtime_error"


def limits(timeout_s: float) -> dict[str, int]:
    """Limits of every process; processor time only ends what somehow outlived its timeout."""
    return {"core": 0, "nofile": 256, "fsize": LARGEST_FILE, "memlock": 0, "cpu": int(timeout_s) + 2}


@contextmanager
def files(request: bytes) -> Iterator[Files]:
    opened = [memory_file("request", request), memory_file("result"), memory_file("log")]
    try:
        yield Files(*opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def memory_file(name: str, content: bytes | None = None) -> int:
    """A file without a place; with content it is read-only for everyone."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    if content is not None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALED)
    return descriptor
