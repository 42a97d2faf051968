"""State that a domain keeps in the memory of each process, opened and closed with the instance."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

import msgspec

from retinue.kit.context.instance import Instance

T = TypeVar("T")


class ProcessState(msgspec.Struct, Generic[T], frozen=True):
    """Declared in a manifest; `ctx.state(type)` and `instance.states[type]` return the result of `open`."""

    type: type[T]
    open: Callable[[Instance], T]
    close: Callable[[T], Awaitable[None]] | None = None
    finish: Callable[[T], Coroutine[Any, Any, None]] | None = None
    """Waits until what this process began for others has ended; a stop leaves it time before `close`."""


def open_states(instance: Instance) -> None:
    for declared in instance.registry.all(ProcessState):
        instance.states[declared.type] = declared.open(instance)


async def finish_states(instance: Instance) -> None:
    states: tuple[ProcessState[Any], ...] = instance.registry.all(ProcessState)
    waits = [declared.finish(instance.states[declared.type]) for declared in states if declared.finish]
    await asyncio.gather(*waits)


async def close_states(instance: Instance) -> None:
    states: tuple[ProcessState[Any], ...] = instance.registry.all(ProcessState)
    for declared in reversed(states):
        if declared.close is not None:
            await declared.close(instance.states[declared.type])
