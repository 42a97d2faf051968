"""Continuations: manifests of upper domains declare how work that waits for a lower domain resumes."""

from collections.abc import Awaitable, Callable

import msgspec

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject


class ContinuationRef(msgspec.Struct, frozen=True):
    """Stored with the awaited work: the name of the continuation, and the key of what it resumes."""

    continuation: str
    key: str


class Continuation(msgspec.Struct, frozen=True):
    """`resume(ctx, key, result)` runs in the transaction that stores the result, so it happens exactly once.

    It must not call outside: it stores and defers.
    """

    name: str
    resume: Callable[[Context, str, JsonObject], Awaitable[None]]


async def resume_continuation(ctx: Context, waiting: ContinuationRef, result: JsonObject) -> None:
    """Resume what waits for the result; a continuation that no domain declares any more is ignored."""
    for continuation in ctx.instance.registry.all(Continuation):
        if continuation.name == waiting.continuation:
            await continuation.resume(ctx, waiting.key, result)
