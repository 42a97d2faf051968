"""What waits for something below it: upper domains say in their manifests how they go on."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from retinue.kit.context import Context


class Waiting(msgspec.Struct, frozen=True):
    """Stored by whoever will have the answer: which continuation, and what it calls its place."""

    continuation: str
    key: str


class Continuation(msgspec.Struct, frozen=True):
    """`resume(ctx, key, result)` runs in the transaction that stores the answer, so it happens exactly once.

    It must not wait for the outside world: it stores and defers.
    """

    name: str
    resume: Callable[["Context", str, dict[str, Any]], Awaitable[None]]


async def go_on(ctx: "Context", waiting: Waiting, result: dict[str, Any]) -> None:
    """Tell whoever waits; nobody is left waiting for an answer that a removed domain wanted."""
    for manifest in ctx.instance.manifests:
        for continuation in manifest.continuations:
            if continuation.name == waiting.continuation:
                await continuation.resume(ctx, waiting.key, result)
