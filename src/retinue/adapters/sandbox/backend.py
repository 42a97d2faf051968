"""The base of all sandbox backends: processes start on first use and are probed before they get any code."""

import asyncio
import contextlib
import re
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import structlog

from retinue.adapters.sandbox.bubblewrap import SandboxMissing
from retinue.adapters.sandbox.call_files import CallFiles, open_call_files, process_limits
from retinue.adapters.sandbox.code import Code, SandboxFailed, SandboxResult
from retinue.adapters.sandbox.guest_process import CallEnded, Guest, GuestFailed, RunningCall
from retinue.kit.json_types import JsonObject

# User ids that own nothing, for servers that run as root.
FIRST_UID = 2_000_000_000

_RETRY_DELAY_SECONDS = 60.0
_PROBE_TIMEOUT_SECONDS = 20.0
REST_AFTER_SECONDS = 300.0
# Every server probes its sandboxes when it starts; most never run code.
REST_AFTER_PROBE_SECONDS = 5.0
# Problems are shown to users, who must not learn the paths of this machine.
_PATHS = re.compile(r"(?:/[\w.@+-]+)+")
_log = structlog.get_logger("sandbox")


class SandboxCall(msgspec.Struct, frozen=True, kw_only=True):
    code: Code
    timeout_s: float
    memory_mb: int


PROBE = SandboxCall(code=Code(runtime="python"), timeout_s=10, memory_mb=64)


def call_message(call: SandboxCall) -> JsonObject:
    """Return what a guest process needs to know about a call besides its descriptors."""
    return {"limits": process_limits(call.timeout_s), "memory_mb": call.memory_mb}


class Backend(ABC):
    name: str

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._is_verified = False
        self._probe_task: asyncio.Task[str] | None = None
        self._last_problem = ""
        self.is_missing = False
        """Whether it cannot be used only because a program or package is not installed."""
        self._retry_at = 0.0

    @abstractmethod
    def _is_alive(self) -> bool: ...

    @abstractmethod
    async def _open(self) -> None:
        """Start the processes; SandboxMissing, GuestFailed or OSError explain a failure."""

    @abstractmethod
    async def _escapes(self, attempts: JsonObject) -> list[str]:
        """Return the escape attempts that succeeded."""

    @abstractmethod
    async def _begin(self, call: SandboxCall, files: CallFiles) -> RunningCall: ...

    @abstractmethod
    async def _end(self) -> None:
        """Stop the processes."""

    def _read(self, _call: SandboxCall, files: CallFiles, ended: CallEnded) -> SandboxResult:
        return files.function_result(ended)

    def _request(self, call: SandboxCall, input: object) -> Any:
        return call.code.request(input)

    async def trouble(self) -> str:
        """Return why the backend is unusable, or ""; the first call waits for the processes to start."""
        if self._is_verified and self._is_alive():
            return ""
        if self._probe_task is None or (self._probe_task.done() and self._may_try_again()):
            self._probe_task = asyncio.create_task(self._run_probe())
        # The first caller may be cancelled while others still wait for the result.
        return await asyncio.shield(self._probe_task)

    @property
    def standing(self) -> str:
        """Return the last known state without starting anything."""
        if self._is_verified:
            return "ok"
        return self._last_problem or "not tried yet"

    def _may_try_again(self) -> bool:
        return self._is_verified or asyncio.get_running_loop().time() >= self._retry_at

    async def _run_probe(self) -> str:
        self._is_verified = False
        trouble = await self._find_problem()
        if trouble:
            self._retry_at = asyncio.get_running_loop().time() + _RETRY_DELAY_SECONDS
            await self._end()
        self._is_verified = not trouble
        self._last_problem = _PATHS.sub("…", trouble)
        return self._last_problem

    async def _find_problem(self) -> str:
        self.is_missing = False
        try:
            await self._open()
            async with asyncio.timeout(_PROBE_TIMEOUT_SECONDS):
                escapes = await self._try_escapes()
        except SandboxMissing as missing:
            self.is_missing = True
            if str(missing) != self._last_problem:
                _log.info("sandbox_missing", backend=self.name, reason=str(missing))
            return str(missing)
        except TimeoutError:
            trouble = "the probe took too long"
        except SandboxFailed as failed:
            trouble = f"the probe failed: {failed.message}"
        except (GuestFailed, OSError) as error:
            trouble = str(error)
        else:
            trouble = f"the probe could {', '.join(escapes)}" if escapes else ""
        if trouble:
            _log.warning("sandbox_unusable", backend=self.name, reason=trouble)
        return trouble

    async def _try_escapes(self) -> list[str]:
        with (
            socket.create_server(("127.0.0.1", 0)) as listening,
            tempfile.NamedTemporaryFile(dir=self._data_dir) as canary,
        ):
            canary.write(b"canary")
            canary.flush()
            paths = {"the system": "/etc/passwd", "the application": __file__, "the data dir": canary.name}
            port = listening.getsockname()[1]
            return await self._escapes({"paths": paths, "port": port, "may_fork": False})

    async def run(
        self, call: SandboxCall, input: object, on_end: Callable[[], None] = lambda: None
    ) -> SandboxResult:
        """Run a call; `on_end` is called when its process is gone, a little later after a timeout."""
        running = None
        try:
            with open_call_files(msgspec.json.encode(self._request(call, input))) as files:
                running = await self._begin(call, files)
                running.ended.add_done_callback(lambda _: on_end())
                return self._read(call, files, await self._wait_until_ended(call, files, running))
        except (SandboxMissing, GuestFailed, OSError) as error:
            _log.warning("sandbox_failed", backend=self.name, reason=str(error))
            raise SandboxFailed("sandbox_unavailable", "The sandbox failed. Try again later.") from error
        finally:
            if running is None:
                on_end()

    async def _wait_until_ended(self, call: SandboxCall, files: CallFiles, running: RunningCall) -> CallEnded:
        """Wait for the process and return how it ended; kill it on a timeout or cancellation."""
        try:
            async with asyncio.timeout(call.timeout_s):
                return await asyncio.shield(running.ended)
        except TimeoutError:
            message = f"The code ran longer than {call.timeout_s:g} seconds."
            raise files.failed("timeout", message) from None
        finally:
            if not running.ended.done():
                running.kill()

    async def close(self) -> None:
        if self._probe_task and not self._probe_task.done():
            self._probe_task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._probe_task
        await self._end()


class ForkingBackend(Backend):
    """A backend with one guest process that forks a child per call.

    A guest that nobody uses is stopped: it holds tens of megabytes, and starting it takes half a second.
    """

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._guest: Guest | None = None
        self._running_count = 0
        self._rest_timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def _is_alive(self) -> bool:
        return self._guest is not None and not self._guest.is_over

    async def _run_probe(self) -> str:
        trouble = await super()._run_probe()
        if not trouble:
            self._rest_after(REST_AFTER_PROBE_SECONDS)
        return trouble

    async def _begin(self, call: SandboxCall, files: CallFiles) -> RunningCall:
        return self._submit_call(call, files, {})

    def _submit_call(self, call: SandboxCall, files: CallFiles, extra: JsonObject) -> RunningCall:
        assert self._guest
        running = self._guest.begin({**call_message(call), **extra}, [files.request, files.result, files.log])
        self._running_count += 1
        running.ended.add_done_callback(self._call_ended)
        return running

    def _call_ended(self, _: object) -> None:
        self._running_count -= 1
        self._rest_after(REST_AFTER_SECONDS)

    def _rest_after(self, seconds: float) -> None:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        self._rest_timer = asyncio.get_running_loop().call_later(seconds, self._rest)

    def _rest(self) -> None:
        """Stop the guest unless it works; the next call starts and probes another one."""
        if self._guest is not None and not self._running_count:
            guest, self._guest = self._guest, None
            closing = asyncio.get_running_loop().create_task(guest.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _end(self) -> None:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        if self._guest:
            await self._guest.close()
            self._guest = None
        if self._closing:
            await asyncio.wait(self._closing)
