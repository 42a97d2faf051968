"""One child process per capability of the embedded models: chat, embeddings, speech.

To add a capability, write a module that the child imports and the server does not, with

    def load(options: JsonObject) -> child.CallHandler

`load` loads the model and returns a function `(method, payload, is_cancelled) -> Iterator[part]`, which is
called in its own thread for each call, with at most `Capability.parallel` calls at a time. Payloads and parts
are msgpack values: None, numbers, str, bytes, lists, dicts with str keys. Raise `frames.ModelCallRefused` if
the request is at fault (`kind` is a `ModelErrorKind`). Check `is_cancelled()` during long work between two
parts. The child is locked down after `load`: it can then read Python's folders and those in
`options["readable"]`, write nothing, and reach no address, so late imports and files must be there. It starts
in its own empty folder; `options["memory"]` limits its address space.

In the server, `ModelHost(capability, options)` costs nothing until `stream` or `ask` is called:

    speech = Capability(name="speech", program="retinue.adapters.embedded.speech.synthesizer_program")
    host = ModelHost(speech, options)
    async with aclosing(host.stream("speak", {"text": …}, requester=ctx.requester)) as parts: …

`options` is called whenever the child starts and raises ModelError if weights are missing. Calls wait in a
queue in which requesters take turns. Every failure is a ModelError; a crash or hang fails the calls in
progress, and the next call starts another child.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from retinue.adapters.embedded import process
from retinue.adapters.embedded.process import ModelProcess
from retinue.adapters.llm.errors import ModelError
from retinue.kit.fair_queue import NOBODY, FairQueue, QueuedCaller, QueueFull
from retinue.kit.json_types import JsonObject

_OVERLOADED = "Too many requests wait for the embedded model. Try again later."


class Capability(Struct, frozen=True, kw_only=True):
    """A kind of child process and its limits.

    `load_timeout_s` limits loading, `max_silence_s` the time between two parts of an answer. After `idle_s`
    without a call the child exits, which frees its memory.
    """

    name: str
    program: str
    parallel: int = 1
    max_queue_length: int = 256
    load_timeout_s: float = 120.0
    max_silence_s: float = 120.0
    idle_s: float = 600.0


class ModelHost:
    def __init__(self, capability: Capability, options: Callable[[], JsonObject]) -> None:
        self.capability = capability
        self._options = options
        self._queue = FairQueue(capability.parallel, capability.max_queue_length)
        self._start_lock = asyncio.Lock()
        self._child: ModelProcess | None = None
        self._active_calls = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """Return the process id of the running child."""
        return self._child.pid if self._child and not self._child.is_over else None

    async def stream(
        self, method: str, payload: Any, *, requester: QueuedCaller = NOBODY
    ) -> AsyncGenerator[Any, None]:
        """Yield the parts of the answer as they arrive; closing the generator stops the model."""
        try:
            leave = await self._queue.enter(requester)
        except QueueFull:
            raise ModelError("overloaded", _OVERLOADED) from None
        self._call_started()

        def call_ended() -> None:
            leave()
            self._call_ended()

        try:
            child = await self._require_child()
        except BaseException:
            call_ended()
            raise
        capability = self.capability
        async with aclosing(
            child.call(method, payload, max_silence_s=capability.max_silence_s, on_end=call_ended)
        ) as parts:
            async for part in parts:
                yield part

    async def ask(self, method: str, payload: Any, *, requester: QueuedCaller = NOBODY) -> Any:
        """Return the answer of a method that sends exactly one part."""
        async with aclosing(self.stream(method, payload, requester=requester)) as parts:
            answers = [part async for part in parts]
        if len(answers) != 1:
            raise ModelError("bad_answer", "The embedded model returned an unexpected number of results.")
        return answers[0]

    async def close(self) -> None:
        """Stop the child; calls in progress fail."""
        self._is_closed = True
        self._cancel_idle_timer()
        async with self._start_lock:
            if self._child is not None:
                await self._child.close()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _require_child(self) -> ModelProcess:
        async with self._start_lock:
            if self._is_closed:
                raise ModelError("unreachable", "The server is stopping.")
            if self._child is None or self._child.is_over:
                if self._child is not None:
                    await self._child.close()
                # In a thread, because `options` looks for the weights on disk.
                options = await asyncio.to_thread(self._options)
                capability = self.capability
                self._child = await process.start(
                    capability.name, capability.program, options, timeout_s=capability.load_timeout_s
                )
            return self._child

    def _call_started(self) -> None:
        self._active_calls += 1
        self._cancel_idle_timer()

    def _call_ended(self) -> None:
        self._active_calls -= 1
        if not self._active_calls and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self.capability.idle_s, self._stop_idle_child)

    def _stop_idle_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            task = asyncio.create_task(child.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
