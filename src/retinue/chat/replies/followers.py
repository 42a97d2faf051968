"""Leases of clients that wait in one process for a reply that another process streams (ADR 11).

The process that streams the reply looks for them before it cancels a turn that nobody listens to.
"""

import asyncio
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.chat.models import Message, StreamFollower
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.ids import new_id

LEASE_SECONDS = 3.0
"""How long a follower counts after its last renewal, if its process was killed."""
RENEWAL_SECONDS = 1.0

_followers = StreamFollower.__table__


def _renewal_statement() -> Statement[Any]:
    """Insert the lease or extend it: it may have expired and been purged while its process was slow."""
    given = {
        name: sa.bindparam(name, type_=_followers.c[name].type)
        for name in StreamFollower.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_followers).values(given)
    extended = {name: insert.excluded[name] for name in ("expires_at", "updated_at")}
    return Statement(insert.on_conflict_do_update(index_elements=["tenant_id", "id"], set_=extended))


_RENEW = _renewal_statement()
_RELEASE = Statement(sa.delete(_followers).where(_followers.c.id == sa.bindparam("follower_id")))
_FIND = Statement(
    sa.select(_followers.c.id)
    .where(_followers.c.message_id == sa.bindparam("reply_id"), _followers.c.expires_at > sa.bindparam("now"))
    .limit(1)
)
_PURGE = Statement(sa.delete(_followers).where(_followers.c.expires_at <= sa.bindparam("now")))


class FollowerLease:
    """One client's lease on a reply; nothing is stored before the first renewal."""

    __slots__ = ("_ctx", "_id", "_renewal", "_reply_id")

    def __init__(self, ctx: Context, reply_id: str) -> None:
        self._ctx = ctx
        self._id = new_id(StreamFollower.__prefix__)
        self._reply_id = reply_id
        self._renewal: asyncio.Task[None] | None = None

    async def renew(self) -> None:
        self._renewal = asyncio.create_task(self._store())
        await asyncio.shield(self._renewal)

    async def _store(self) -> None:
        async with self._ctx.unit() as unit:
            now = unit.now
            unit.db.execute_at_commit(
                _RENEW,
                id=self._id,
                created_at=now,
                updated_at=now,
                message_id=self._reply_id,
                expires_at=unit.clock.ahead(LEASE_SECONDS),
            )

    async def release(self) -> None:
        """Delete the lease; one that cannot be deleted expires."""
        if self._renewal is None:
            return
        # A renewal that is stored after the deletion would bring the lease back.
        await asyncio.gather(self._renewal, return_exceptions=True)
        with suppress(RetinueError):
            async with self._ctx.unit() as unit:
                unit.db.execute_at_commit(_RELEASE, follower_id=self._id)


async def is_followed_elsewhere(ctx: Context, reply_id: str) -> bool:
    """Return whether a client waits for the reply in another process and its question still exists."""
    if await ctx.db.scalar(_FIND, reply_id=reply_id, now=ctx.now) is None:
        return False
    return await ctx.db.find(Message, reply_id=reply_id) is not None


async def purge_stream_followers(ctx: Context) -> None:
    """Delete the leases of followers whose process was killed."""
    await ctx.system("followers of every tenant").execute(_PURGE, now=ctx.now)
