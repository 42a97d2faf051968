"""What depends on a thing: a question a lower domain asks of the upper ones through their manifests.

A manifest lists a `Reference` for each kind of record of its domain that can point at the thing. The owner
of the thing then shows its usage, refuses to delete it while it is in use, or detaches it.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from retinue.kit.context import Context


class Referrer(msgspec.Struct, frozen=True):
    """One record that points at the thing."""

    id: str
    name: str


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is what the referring records are called in answers: tools, channels, api_keys."""

    to: str
    kind: str
    find: Callable[[Any, str], Awaitable[list[Referrer]]]
    detach: Callable[[Any, str], Awaitable[None]]


async def referrers(ctx: "Context", to: str, id: str) -> dict[str, list[Referrer]]:
    """Who points at this thing, by kind; a kind without any is there with an empty list."""
    return {reference.kind: await reference.find(ctx, id) for reference in _references(ctx, to)}


async def detach(ctx: "Context", to: str, id: str) -> None:
    """Make everyone let go of the thing, in this transaction."""
    for reference in _references(ctx, to):
        await reference.detach(ctx, id)


def _references(ctx: "Context", to: str) -> list[Reference]:
    return [
        reference
        for manifest in ctx.instance.manifests
        for reference in manifest.references
        if reference.to == to
    ]
