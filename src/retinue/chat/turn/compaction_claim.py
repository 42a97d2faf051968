"""The right to compact a conversation: one turn at a time has it, in whatever process it runs (ADR 32).

The claim is a row with a lease. A turn that finds the row waits for its result; if the process that held it
was killed, the lease expires and the turn that waits goes on in its place. Nothing counts before `finish`.
"""

import asyncio
from contextlib import suppress

import sqlalchemy as sa

from retinue.chat.engine.history_entries import Compacted
from retinue.chat.engine.memory import SummaryOrigin
from retinue.chat.engine.parts import Compaction
from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import Conversation, ConversationSummary
from retinue.kit.context import Context
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError

LEASE_SECONDS = 15.0
"""How long a claim counts after its last renewal, if its process was killed."""
RENEWAL_SECONDS = 4.0
_POLL_SECONDS = 0.1
_MAX_POLL_SECONDS = 1.0

_summaries = ConversationSummary.__table__
_RENEW = Statement(
    sa.update(_summaries)
    .where(
        _summaries.c.id == sa.bindparam("summary_id"),
        _summaries.c.lease_expires_at == sa.bindparam("held_until"),
    )
    .values(lease_expires_at=sa.bindparam("until"))
)
_RELEASE = Statement(
    sa.delete(_summaries).where(
        _summaries.c.id == sa.bindparam("summary_id"),
        _summaries.c.lease_expires_at == sa.bindparam("held_until"),
    )
)
_DELETE_OLDER = Statement(
    sa.delete(_summaries).where(
        _summaries.c.conversation_id == sa.bindparam("conversation_id"),
        _summaries.c.number < sa.bindparam("number"),
    )
)


class SummaryClaim:
    """A held claim, renewed until it is finished or abandoned."""

    def __init__(self, ctx: Context, row: ConversationSummary, *, is_of_branch: bool) -> None:
        self._ctx = ctx
        self._is_of_branch = is_of_branch
        self._row = row
        self._held_until = row.lease_expires_at
        self._renewal = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            with suppress(RetinueError):
                await self._renew()

    async def _renew(self) -> None:
        until = self._ctx.clock.ahead(LEASE_SECONDS)
        if await _take_lease(self._ctx, self._row.id, self._held_until, until):
            self._held_until = until

    async def finish(self, compacted: Compacted, report: Compaction, origin: SummaryOrigin | None) -> None:
        """Store the result and make it count; one whose lease another turn has taken is dropped."""
        await self._stop_renewal()
        with suppress(UniqueViolation):
            await self._ctx.run_in_unit(lambda unit: self._store(unit, compacted, report, origin))

    async def _store(
        self, unit: Context, compacted: Compacted, report: Compaction, origin: SummaryOrigin | None
    ) -> None:
        conversation = await unit.db.lock(Conversation, self._row.conversation_id)
        if conversation is None:
            raise ConversationNotFound
        row = await unit.db.lock(ConversationSummary, self._row.id)
        if row is None or row.lease_expires_at != self._held_until:
            return
        previous = await self._previous(unit, conversation)
        if not self._is_of_branch and previous is not None and previous.number >= row.number:
            # This turn began before the newer one was made.
            await unit.db.delete(row)
            return
        await unit.db.update(
            row,
            up_to_position=compacted.up_to,
            results_up_to=compacted.results_up_to,
            attachments_up_to=compacted.attachments_up_to,
            made_at_position=compacted.made_at,
            text=compacted.summary,
            model=origin.model if origin is not None else previous.model if previous else "",
            usage=origin.usage if origin is not None else previous.usage if previous else None,
            documents=list(compacted.documents) or None,
            report=report,
            lease_expires_at=None,
        )
        await unit.db.update(conversation, summary_id=row.id)
        if not self._is_of_branch:
            await unit.db.execute(_DELETE_OLDER, conversation_id=conversation.id, number=row.number)

    async def _previous(self, unit: Context, conversation: Conversation) -> ConversationSummary | None:
        id = conversation.summary_id
        return None if id is None else await unit.db.get(ConversationSummary, id)

    async def abandon(self) -> None:
        """Delete the claim; one that cannot be deleted expires."""
        await self._stop_renewal()
        with suppress(RetinueError):
            async with self._ctx.unit() as unit:
                unit.db.execute_at_commit(_RELEASE, summary_id=self._row.id, held_until=self._held_until)

    async def _stop_renewal(self) -> None:
        self._renewal.cancel()
        await asyncio.gather(self._renewal, return_exceptions=True)


async def _take_lease(ctx: Context, summary_id: str, held_until: str | None, until: str) -> bool:
    async with ctx.unit() as unit:
        return bool(await unit.db.execute(_RENEW, summary_id=summary_id, held_until=held_until, until=until))


async def claim_summary(
    ctx: Context, conversation_id: str, key: str, number: int, *, is_of_branch: bool = False
) -> SummaryClaim | Compacted:
    """Return the claim on a compaction, or its result once another turn has finished it.

    With `is_of_branch`, the summaries of other branches stay.
    """
    wait_seconds = _POLL_SECONDS
    while True:
        row = ConversationSummary(
            conversation_id=conversation_id,
            key=key,
            number=number,
            lease_expires_at=ctx.clock.ahead(LEASE_SECONDS),
        )
        try:
            async with ctx.unit() as unit:
                return SummaryClaim(ctx, await unit.db.insert(row), is_of_branch=is_of_branch)
        except UniqueViolation:
            pass
        except ReferenceViolation:
            raise ConversationNotFound from None
        held = await ctx.detached().db.find(ConversationSummary, key=key)
        if held is not None and held.lease_expires_at is None:
            return held.compacted()
        if held is not None and (held.lease_expires_at or "") <= ctx.now:
            until = ctx.clock.ahead(LEASE_SECONDS)
            if await _take_lease(ctx, held.id, held.lease_expires_at, until):
                held.lease_expires_at = until
                return SummaryClaim(ctx, held, is_of_branch=is_of_branch)
        await asyncio.sleep(wait_seconds)
        wait_seconds = min(wait_seconds * 2, _MAX_POLL_SECONDS)
