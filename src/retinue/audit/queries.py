"""Reading a tenant's audit chain."""

from collections.abc import AsyncIterator

import msgspec
import sqlalchemy as sa

from retinue.audit.schemas import AuditEntryOut, AuditHeadOut, AuditList, AuditPage
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.events.models import AuditEntry, AuditHead
from retinue.kit.lists import Listing, PageQuery, query_instant

_BATCH_SIZE = 500
_MAX_SEQUENCE = 2**63 - 1

_entries = AuditEntry.__table__
# `->>` reads a field of a JSON column in both databases.
_actor_id = _entries.c.actor.op("->>", return_type=sa.Text())(sa.literal("id"))
_prefix = sa.bindparam("action_prefix", type_=sa.Text())
_after = sa.bindparam("after", type_=sa.BigInteger())
_LISTINGS = {
    sort: Listing(
        AuditEntry,
        sorts=("sequence",),
        filters=("action", "subject_id", "success", "correlation_id"),
        from_={"from_": "created_at"},
        until={"to": "created_at"},
        matches={
            "actor_id": _actor_id == sa.bindparam("actor_id", type_=sa.Text()),
            "action_prefix": sa.func.substr(_entries.c.action, 1, sa.func.length(_prefix)) == _prefix,
            "after": _entries.c.sequence > _after,
        },
        default_sort=sort,
        heavy=True,
    )
    for sort in ("sequence", "-sequence")
}
# Rows of one moment may have been stored in another order, so a period is a range of the chain.
_RANGE = Statement(
    sa.select(sa.func.min(_entries.c.sequence), sa.func.max(_entries.c.sequence)).where(
        _entries.c.created_at >= sa.bindparam("begin"), _entries.c.created_at <= sa.bindparam("end")
    ),
    heavy=True,
)
_BATCH = record_statement(
    AuditEntry,
    sa.select(_entries)
    .where(_entries.c.sequence > _after, _entries.c.sequence <= sa.bindparam("last", type_=sa.BigInteger()))
    .order_by(_entries.c.sequence)
    .limit(_BATCH_SIZE),
)
_BEGINNING_OF_TIME, _END_OF_TIME = "0", "9"


class _AuditFilter(PageQuery, kw_only=True):
    """The filters of the list, with a prefix of actions apart from a whole one."""

    action: str | None
    action_prefix: str | None
    actor_id: str | None
    subject_id: str | None
    success: bool | None
    correlation_id: str | None
    from_: str | None
    to: str | None
    after: int | None


async def page(ctx: Context, query: AuditList) -> AuditPage:
    is_prefix = query.action is not None and query.action.endswith("*")
    action = (query.action or "").removesuffix("*") or None
    actions = {"action": None if is_prefix else action, "action_prefix": action if is_prefix else None}
    wanted = _AuditFilter(**{**msgspec.structs.asdict(query), **actions})
    found = await _LISTINGS["-sequence" if query.after is None else "sequence"].page(ctx.db, wanted)
    shown = found.to_page(AuditEntryOut.of)
    return AuditPage(data=shown.data, pagination=shown.pagination, head=await read_head(ctx))


async def read_head(ctx: Context) -> AuditHeadOut:
    head = await ctx.system("heads are kept beside the tenants").get(AuditHead, ctx.tenant_id)
    return AuditHeadOut.of(head) if head is not None else AuditHeadOut(sequence=0, hash="")


async def find_range(ctx: Context, begin: str | None, end: str | None) -> tuple[int, int]:
    """Return the first and the last sequence number of a period; (0, 0) if it is empty."""
    row = await ctx.db.first(
        _RANGE,
        begin=query_instant("from", begin) if begin else _BEGINNING_OF_TIME,
        end=query_instant("to", end) if end else _END_OF_TIME,
    )
    if row is None or row[0] is None or row[1] is None:
        return 0, 0
    return int(row[0]), int(row[1])


async def iterate_rows(ctx: Context, first: int, last: int) -> AsyncIterator[list[AuditEntry]]:
    """Yield the rows of a range in batches, each read on its own."""
    after = first - 1
    while batch := await ctx.db.rows(_BATCH, after=after, last=last):
        yield batch
        after = batch[-1].sequence


async def read_after(ctx: Context, after: int) -> list[AuditEntry]:
    """Return the next batch of rows, oldest first."""
    return await ctx.db.rows(_BATCH, after=after, last=_MAX_SEQUENCE)
