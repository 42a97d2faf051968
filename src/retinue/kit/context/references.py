"""References to a record from upper domains, found through their manifests.

A manifest lists a `Reference` for each kind of record of its domain that can refer to another domain's
record. The owner of that record can then show its usage, refuse to delete it while in use, or detach it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.kit.context import Context


class Referrer(msgspec.Struct, frozen=True):
    """One record that refers to another one."""

    id: str
    name: str


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` names the referring records in responses: tools, channels, api_keys."""

    to: str
    kind: str
    find: Callable[[Any, str], Awaitable[list[Referrer]]]
    detach: Callable[[Any, str], Awaitable[None]]


async def find_referrers(ctx: Context, to: str, id: str) -> dict[str, list[Referrer]]:
    """Return the referrers of a record by kind; a kind without any has an empty list."""
    return {reference.kind: await reference.find(ctx, id) for reference in _references(ctx, to)}


async def detach_referrers(ctx: Context, to: str, id: str) -> None:
    """Detach all referrers from a record, in this transaction."""
    for reference in _references(ctx, to):
        await reference.detach(ctx, id)


def _references(ctx: Context, to: str) -> list[Reference]:
    return [reference for reference in ctx.instance.registry.all(Reference) if reference.to == to]
