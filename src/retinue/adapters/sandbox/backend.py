"""A way to run code: its processes are started when first needed and proven before they get any code."""

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

from retinue.adapters.sandbox.bubblewrap import Missing
from retinue.adapters.sandbox.calls import Files, files, limits
from retinue.adapters.sandbox.code import Code, Outcome, SandboxFailed
from retinue.adapters.sandbox.guests import Begun, Ended, Guest, GuestFailed

# Users that own nothing, for when the server is root.
FIRST_UID = 2_000_000_000

_RETRY_S = 60.0
_PROBE_S = 20.0
# Who may not know the paths of this machine may still know what is wrong.
_PATHS = re.compile(r"(?:/[\w.@+-]+)+")
_log = structlog.get_logger("sandbox")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    code: Code
    timeout_s: float
    memory_mb: int


PROBE = Call(code=Code(runtime="python"), timeout_s=10, memory_mb=64)


def told(call: Call) -> dict[str, Any]:
    """What a guest process is told about a call, beside its descriptors."""
    return {"limits": limits(call.timeout_s), "memory_mb": call.memory_mb}


class Backend(ABC):
    name: str

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._is_proven = False
        self._proving: asyncio.Task[str] | None = None
        self._last_trouble = ""
        self._retry_at = 0.0

    @abstractmethod
    def _is_alive(self) -> bool: ...

    @abstractmethod
    async def _open(self) -> None:
        """Start the processes; Missing, GuestFailed and OSError say why not."""

    @abstractmethod
    async def _escapes(self, attempts: dict[str, Any]) -> list[str]:
        """The attempts to get out that worked."""

    @abstractmethod
    async def _begin(self, call: Call, opened: Files) -> Begun: ...

    @abstractmethod
    async def _end(self) -> None:
        """End the processes."""

    def _read(self, _call: Call, opened: Files, ended: Ended) -> Outcome:
        return opened.answered(ended)

    def _request(self, call: Call, input: Any) -> Any:
        return call.code.request(input)

    async def trouble(self) -> str:
        """Why it cannot be used, or nothing; the first answer waits until the processes have started."""
        if self._is_proven and self._is_alive():
            return ""
        if self._proving is None or (self._proving.done() and self._may_try_again()):
            self._proving = asyncio.create_task(self._prove())
        # Who asked first may give up; the others still want to know.
        return await asyncio.shield(self._proving)

    @property
    def standing(self) -> str:
        """What is known without starting anything."""
        if self._is_proven:
            return "ok"
        return self._last_trouble or "not tried yet"

    def _may_try_again(self) -> bool:
        return self._is_proven or asyncio.get_running_loop().time() >= self._retry_at

    async def _prove(self) -> str:
        self._is_proven = False
        trouble = await self._find_trouble()
        if trouble:
            self._retry_at = asyncio.get_running_loop().time() + _RETRY_S
            await self._end()
        self._is_proven = not trouble
        self._last_trouble = _PATHS.sub("…", trouble)
        return self._last_trouble

    async def _find_trouble(self) -> str:
        try:
            await self._open()
            async with asyncio.timeout(_PROBE_S):
                worked = await self._attempt()
        except Missing as missing:
            if str(missing) != self._last_trouble:
                _log.info("a sandbox is missing", backend=self.name, reason=str(missing))
            return str(missing)
        except TimeoutError:
            trouble = "the probe took too long"
        except SandboxFailed as failed:
            trouble = f"the probe failed: {failed.message}"
        except (GuestFailed, OSError) as error:
            trouble = str(error)
        else:
            trouble = f"the probe could {', '.join(worked)}" if worked else ""
        if trouble:
            _log.warning("a sandbox cannot be used", backend=self.name, reason=trouble)
        return trouble

    async def _attempt(self) -> list[str]:
        with (
            socket.create_server(("127.0.0.1", 0)) as listening,
            tempfile.NamedTemporaryFile(dir=self._data_dir) as canary,
        ):
            canary.write(b"canary")
            canary.flush()
            paths = {"the system": "/etc/passwd", "the application": __file__, "the data dir": canary.name}
            port = listening.getsockname()[1]
            return await self._escapes({"paths": paths, "port": port, "may_fork": False})

    async def run(self, call: Call, input: Any, on_end: Callable[[], None] = lambda: None) -> Outcome:
        """Run a call; `on_end` is called when its process is gone, after a timeout a little later."""
        begun = None
        try:
            with files(msgspec.json.encode(self._request(call, input))) as opened:
                begun = await self._begin(call, opened)
                begun.ended.add_done_callback(lambda _: on_end())
                return self._read(call, opened, await self._ended(call, opened, begun))
        except (Missing, GuestFailed, OSError) as error:
            _log.warning("a sandbox failed", backend=self.name, reason=str(error))
            raise SandboxFailed("sandbox_unavailable", "The sandbox failed; try again later.") from error
        finally:
            if begun is None:
                on_end()

    async def _ended(self, call: Call, opened: Files, begun: Begun) -> Ended:
        """How the process ended; one that takes too long, or that nobody wants any more, is killed."""
        try:
            async with asyncio.timeout(call.timeout_s):
                return await asyncio.shield(begun.ended)
        except TimeoutError:
            message = f"The code ran longer than {call.timeout_s:g} seconds."
            raise opened.failed("timeout", message) from None
        finally:
            if not begun.ended.done():
                begun.kill()

    async def close(self) -> None:
        if self._proving and not self._proving.done():
            self._proving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._proving
        await self._end()


class Forking(Backend):
    """A backend with one guest process that forks a child for each call."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self._guest: Guest | None = None

    def _is_alive(self) -> bool:
        return self._guest is not None and not self._guest.is_over

    async def _begin(self, call: Call, opened: Files) -> Begun:
        return self._hand_over(call, opened, {})

    def _hand_over(self, call: Call, opened: Files, more: dict[str, Any]) -> Begun:
        assert self._guest
        return self._guest.begin({**told(call), **more}, [opened.request, opened.result, opened.log])

    async def _end(self) -> None:
        if self._guest:
            await self._guest.close()
            self._guest = None
