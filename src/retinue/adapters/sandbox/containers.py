"""Bubblewrap sandboxes around native interpreters (ADR 9)."""

import asyncio
import os
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.sandbox import bubblewrap, guest_process, scripts
from retinue.adapters.sandbox.backend import FIRST_UID, PROBE, Backend, ForkingBackend, SandboxCall
from retinue.adapters.sandbox.bubblewrap import Binds, Interpreter
from retinue.adapters.sandbox.call_files import CallFiles, memory_file, process_limits
from retinue.adapters.sandbox.code import Code, Runtime, SandboxResult
from retinue.adapters.sandbox.guest import filters
from retinue.adapters.sandbox.guest_process import CallEnded, Guest, GuestFailed, RunningCall
from retinue.adapters.sandbox.scripts import SandboxScript
from retinue.kit.json_types import JsonObject

_PROBES: dict[Runtime, str] = {
    "python": "from retinue_guest import escape\n\ndef main(input):\n    return escape.successes(**input)\n",
    "javascript": """
const fs = require("node:fs"), net = require("node:net");
const reads = (path) => { try { return fs.readFileSync(path).length > 0; } catch { return false; } };
const connects = (port) => new Promise((resolve) => {
  const client = net.connect(port, "127.0.0.1", () => resolve(true));
  client.on("error", () => resolve(false));
});
async function main({ paths, port }) {
  const named = [...Object.entries(paths), ["the environment of process 1", "/proc/1/environ"]];
  const worked = named.filter(([, path]) => reads(path)).map(([name]) => `read ${name}`);
  if (await connects(port)) worked.push("open a network connection");
  if (process.getuid() === 0) worked.push("be root");
  return worked;
}
""",
}


class Spawner:
    """The process that starts bubblewrap, shared by all backends that need it."""

    def __init__(self) -> None:
        self._guest: Guest | None = None
        self._starting = asyncio.Lock()

    async def guest(self) -> Guest:
        async with self._starting:
            if self._guest is None or self._guest.is_over:
                self._guest = await guest_process.start(
                    "spawner", bubblewrap.program(), str(FIRST_UID + 1000)
                )
            return self._guest

    async def close(self) -> None:
        if self._guest:
            await self._guest.close()
            self._guest = None


class WarmPythonBackend(ForkingBackend):
    """Python functions without packages: each call forks an interpreter that waits in a sandbox."""

    name = "bubblewrap.python_functions"

    def __init__(self, data_dir: Path, spawner: Spawner) -> None:
        super().__init__(data_dir)
        self._spawner = spawner

    async def _open(self) -> None:
        message = bubblewrap.fork_server_options(bubblewrap.python(self._data_dir))
        spawner = await self._spawner.guest()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = memory_file("log")
        try:
            with theirs:
                running = spawner.begin({**message, "places": [0, 1, 2]}, [theirs.fileno(), log, log])
            self._guest = Guest(ours, running.kill, lambda: running.ended)
            await self._guest.ready()
        except GuestFailed as failed:
            error_text = os.pread(log, 2000, 0).decode(errors="replace").strip()
            raise GuestFailed(error_text or str(failed)) from None
        finally:
            os.close(log)

    async def _escapes(self, attempts: JsonObject) -> list[str]:
        code = Code(runtime="python", source=_PROBES["python"])
        escapes: list[str] = (await self.run(msgspec.structs.replace(PROBE, code=code), attempts)).output
        return escapes


class ProgramBackend(Backend):
    """Scripts, and functions with packages: each call gets a new sandbox."""

    def __init__(self, data_dir: Path, spawner: Spawner, runtime: Runtime) -> None:
        super().__init__(data_dir)
        self.name = "bubblewrap.node" if runtime == "javascript" else "bubblewrap.python"
        self._spawner = spawner
        self._runtime = runtime
        self._interpreter: Interpreter | None = None
        self._seccomp = b""

    def _is_alive(self) -> bool:
        return self._interpreter is not None

    async def _open(self) -> None:
        await self._spawner.guest()
        self._seccomp = filters.for_programs()
        is_python = self._runtime == "python"
        self._interpreter = (
            bubblewrap.python(self._data_dir) if is_python else bubblewrap.node(self._data_dir)
        )

    async def _escapes(self, attempts: JsonObject) -> list[str]:
        code = Code(runtime=self._runtime, source=_PROBES[self._runtime])
        probe = msgspec.structs.replace(PROBE, code=code)
        escapes: list[str] = (await self.run(probe, {**attempts, "may_fork": True})).output
        return escapes

    def _request(self, call: SandboxCall, input: object) -> Any:
        return input if call.code.entrypoint else super()._request(call, input)

    def _read(self, call: SandboxCall, files: CallFiles, ended: CallEnded) -> SandboxResult:
        # Bubblewrap does not wait for its children, so their CPU time is unknown.
        ended = msgspec.structs.replace(ended, cpu_ms=None)
        return files.script_result(ended) if call.code.entrypoint else files.function_result(ended)

    async def _begin(self, call: SandboxCall, files: CallFiles) -> RunningCall:
        script = None
        if call.code.entrypoint:
            script = await asyncio.to_thread(
                scripts.find, call.code.entrypoint, self._data_dir, self._runtime
            )
        with ExitStack() as open_files:

            def add_file(name: str, content: bytes) -> int:
                descriptor = memory_file(name, content)
                open_files.callback(os.close, descriptor)
                return descriptor

            places = _descriptor_places(files, is_script=script is not None)
            places[bubblewrap.SECCOMP_DESCRIPTOR] = add_file("seccomp", self._seccomp)
            if script and script.content is not None:
                places[bubblewrap.SCRIPT_DESCRIPTOR] = add_file("script", script.content)
            message = {**self._message(call, script), "places": list(places)}
            return (await self._spawner.guest()).begin(message, list(places.values()))

    def _message(self, call: SandboxCall, script: SandboxScript | None) -> JsonObject:
        assert self._interpreter
        binds: Binds = []
        if call.code.packages:
            binds.append(bubblewrap.packages(self._runtime, call.code.packages))
        if script and script.folder:
            binds.append((str(script.folder), bubblewrap.SCRIPT_FOLDER))
        script_path = script.path if script and script.content is not None else None
        memory_mb, reserved = bubblewrap.memory(self._runtime, call.memory_mb)
        return {
            **bubblewrap.call_options(self._interpreter, self._command(call, script), binds, script_path),
            "limits": {**process_limits(call.timeout_s), "data": reserved},
            "memory_mb": memory_mb,
        }

    def _command(self, call: SandboxCall, script: SandboxScript | None) -> list[str]:
        if self._runtime == "javascript":
            return [f"--max-old-space-size={call.memory_mb}", script.path if script else "/guest/node.js"]
        return ["-B", "-s", script.path] if script else ["-I", "-S", "-B", "/guest/start.py", "program"]

    async def _end(self) -> None:
        self._interpreter = None


def _descriptor_places(files: CallFiles, *, is_script: bool) -> dict[int, int]:
    """Return the descriptors by number: scripts use stdin and stdout, for functions all output is a log."""
    if is_script:
        return {0: files.request, 1: files.result, 2: files.log}
    return {0: files.request, 1: files.log, 2: files.log, 3: files.request, 4: files.result}
