"""One child process for each capability of the embedded models: chat, embeddings, speech.

To add a capability, write a module that the child imports and the server does not, with

    def load(options: dict[str, Any]) -> child.Serve

`load` loads the model and answers with a function `(method, payload, is_cancelled) -> Iterator[part]`, which
is called in a thread of its own for each call, at most `Capability.parallel` at a time. Payloads and parts
are whatever msgpack carries: None, numbers, str, bytes, lists, dicts with str keys. Raise
`frames.Refused(reason)` where the request is at fault (`kind` is one of `adapters.llm.errors.Kind`). Ask
`is_cancelled()` where it takes long between two parts. The child is locked after `load`: from then on it can
read Python's own folders and those in `options["readable"]`, write nothing, and reach no address; what is
imported or opened late must lie there. The child starts in an empty folder of its own; `options["memory"]`
is the most address space it may take.

In the server, `Host(capability, options)` costs nothing until `stream` or `ask` is called:

    host = Host(Capability("speech", "retinue.adapters.embedded.speech.program"), options)
    async with aclosing(host.stream("speak", {"text": …}, who=tenant_id)) as parts: …

`options` is called at each start of the child and raises ModelError where weights are missing. Calls wait in
one line, by turns between those in `who`. Everything that goes wrong is a ModelError; a crash or a hang ends
the calls at work, and the next call starts another child.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from retinue.adapters.embedded import process
from retinue.adapters.embedded.line import Line
from retinue.adapters.embedded.process import ModelProcess
from retinue.adapters.llm.errors import ModelError


class Capability(Struct, frozen=True, kw_only=True):
    """What one kind of child does and how long it may take for it.

    `load_s` is the longest time to load, `silence_s` between two parts of an answer; after `idle_s` without a
    call the child ends and its memory is free.
    """

    name: str
    program: str
    parallel: int = 1
    longest_line: int = 256
    load_s: float = 120.0
    silence_s: float = 120.0
    idle_s: float = 600.0


class Host:
    def __init__(self, capability: Capability, options: Callable[[], dict[str, Any]]) -> None:
        self.capability = capability
        self._options = options
        self._line = Line(capability.parallel, capability.longest_line)
        self._starting = asyncio.Lock()
        self._child: ModelProcess | None = None
        self._at_work = 0
        self._rest: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The child that runs now."""
        return self._child.pid if self._child and not self._child.is_over else None

    async def stream(self, method: str, payload: Any, *, who: str = "") -> AsyncGenerator[Any, None]:
        """The parts of the answer as they come; closing the generator stops the model."""
        await self._line.enter(who)
        self._begin()
        try:
            child = await self._running()
        except BaseException:
            self._end()
            raise
        capability = self.capability
        async with aclosing(
            child.call(method, payload, silence_s=capability.silence_s, on_end=self._end)
        ) as parts:
            async for part in parts:
                yield part

    async def ask(self, method: str, payload: Any, *, who: str = "") -> Any:
        """The only part of an answer that has one."""
        async with aclosing(self.stream(method, payload, who=who)) as parts:
            answers = [part async for part in parts]
        if len(answers) != 1:
            raise ModelError("bad_answer", "The embedded model answered nothing, or too much.")
        return answers[0]

    async def close(self) -> None:
        """End the child; calls at work end with an error."""
        self._is_closed = True
        self._stop_resting()
        async with self._starting:
            if self._child is not None:
                await self._child.close()
        if self._ending:
            await asyncio.wait(self._ending)

    async def _running(self) -> ModelProcess:
        async with self._starting:
            if self._is_closed:
                raise ModelError("unreachable", "The server is stopping.")
            if self._child is None or self._child.is_over:
                if self._child is not None:
                    await self._child.close()
                # Weights are looked for on disk.
                options = await asyncio.to_thread(self._options)
                capability = self.capability
                self._child = await process.start(
                    capability.name, capability.program, options, longest_s=capability.load_s
                )
            return self._child

    def _begin(self) -> None:
        self._at_work += 1
        self._stop_resting()

    def _end(self) -> None:
        self._at_work -= 1
        self._line.leave()
        if not self._at_work and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._rest = loop.call_later(self.capability.idle_s, self._let_go)

    def _let_go(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            task = asyncio.create_task(child.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _stop_resting(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
