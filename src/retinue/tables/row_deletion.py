"""Deleting rows, and putting back those that were deleted a short time ago."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.bulk import insert_rows
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.db.types import json_text
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.purge import purge_all_tenants, purge_statement
from retinue.tables import rows, table_scan
from retinue.tables.errors import ColumnsChanged, DeletedRowsNotFound
from retinue.tables.events import RowDeleted, RowRestored, RowsPutBack
from retinue.tables.filters import Condition
from retinue.tables.models import DataTable
from retinue.tables.models import deleted_rows as _deleted
from retinue.tables.models import rows as _rows
from retinue.tables.queries import count_rows, iterate_rows, still_matching
from retinue.tables.row_validation import RowValidator, find_taken_values, raise_if_taken
from retinue.tables.storage import Layout, StoredRow, read_row

MAX_DELETED_ROWS = 5000
RESTORABLE_S = 600
"""For so long, deleted rows can be put back."""

_DELETE = Statement(
    sa.delete(_rows).where(
        _rows.c.table_key == sa.bindparam("row_key", type_=sa.BigInteger()), in_list(_rows.c.id, "ids")
    )
)
_KEPT_NAMES = ("table_id", "id", "deletion_id", "deleted_at", "created_at", "updated_at", "data")
_of_table = _deleted.c.table_id == sa.bindparam("table_id", type_=_deleted.c.table_id.type)
_by_ids = in_list(_deleted.c.id, "ids")


def _find_kept(condition: Any) -> Statement[StoredRow]:
    columns = (_deleted.c.id, _deleted.c.created_at, _deleted.c.updated_at, _deleted.c.data)
    since = sa.bindparam("since", type_=_deleted.c.deleted_at.type)
    source = sa.select(*columns).where(_of_table, condition, _deleted.c.deleted_at > since)
    return Statement(source.order_by(_deleted.c.id).with_for_update(), read_row)


_KEPT_BY_ID = _find_kept(_by_ids)
_KEPT_BY_DELETION = _find_kept(
    _deleted.c.deletion_id == sa.bindparam("deletion_id", type_=_deleted.c.deletion_id.type)
)
_FORGET = Statement(sa.delete(_deleted).where(_of_table, _by_ids))
_FORGET_TABLE = Statement(sa.delete(_deleted).where(_of_table))
_PURGE = purge_statement(
    _deleted, _deleted.c.deleted_at <= sa.bindparam("before", type_=_deleted.c.deleted_at.type)
)


async def delete(
    ctx: Context, table: DataTable, row_id: str, expected: Collection[Instant] | None = None
) -> None:
    await _remove(ctx, table, [await rows.lock_row(ctx, table, row_id, expected)])


async def delete_matching(
    ctx: Context, table: DataTable, condition: Condition, *, is_dry: bool
) -> tuple[int, int, str | None]:
    """Return how many rows match and were deleted, at most `MAX_DELETED_ROWS`, and the id of the deletion."""
    # A full scan runs outside the transaction, so that it blocks no writers.
    detached = ctx.detached() if table_scan.needs_full_scan(table, condition) else ctx
    matched, _ = await count_rows(
        detached, table, condition, count_budget_seconds=table_scan.MAX_SCAN_SECONDS
    )
    if is_dry or not matched:
        return matched, 0, None
    ids = [
        row.id async for batch in iterate_rows(detached, table, condition, MAX_DELETED_ROWS) for row in batch
    ]
    # What is kept is what is deleted: others may have changed or deleted these rows since they were read.
    matching = await still_matching(ctx, table, condition, ids)
    if not matching:
        return matched, 0, None
    deleted, deletion_id = await _remove(ctx, table, matching)
    return matched, deleted, deletion_id


async def _remove(ctx: Context, table: DataTable, removed: Sequence[StoredRow]) -> tuple[int, str]:
    """Delete rows and keep them for a while; return how many were still there, and the deletion's id."""
    deletion_id = new_id("del")
    ids = list_parameter(row.id for row in removed)
    deleted = await ctx.db.execute(_DELETE, row_key=table.row_key, ids=ids)
    kept = [
        (table.id, row.id, deletion_id, ctx.now, row.created_at, row.updated_at, json_text(row.values))
        for row in removed
    ]
    await insert_rows(ctx.db, _deleted, _KEPT_NAMES, kept)
    layout = Layout(table)
    for row in removed:
        rows.emit_row(ctx, RowDeleted, table, layout, row)
    rows.change_count(ctx, table, -deleted)
    return deleted, deletion_id


async def restore(
    ctx: Context, table: DataTable, row_ids: Sequence[str] | None, deletion_id: str | None
) -> list[str]:
    """Put deleted rows back with their ids and values, all of them or none; return their ids."""
    since = ctx.clock.ahead(-RESTORABLE_S)
    if row_ids is not None:
        wanted = list_parameter(dict.fromkeys(row_ids))
        kept = await ctx.db.rows(_KEPT_BY_ID, table_id=table.id, since=since, ids=wanted)
    else:
        kept = await ctx.db.rows(_KEPT_BY_DELETION, table_id=table.id, since=since, deletion_id=deletion_id)
    found = [row.id for row in kept]
    missing = sorted({*(row_ids or ())}.difference(found))
    if missing or not kept:
        raise DeletedRowsNotFound(details={"row_ids": missing} if missing else None)
    layout = Layout(table)
    validator = RowValidator(layout)
    for row in kept:
        row.values = _fit(validator, row)
    raise_if_taken(await find_taken_values(ctx, layout, table.row_key, kept), [""] * len(kept))
    await rows.insert_rows(ctx, table, layout, kept)
    await ctx.db.execute(_FORGET, table_id=table.id, ids=list_parameter(found))
    for row in kept:
        rows.emit_row(ctx, RowRestored, table, layout, row)
    ctx.emit(RowsPutBack(table_id=table.id, name=table.name, slug=table.slug, restored=len(kept)))
    return found


def _fit(validator: RowValidator, row: StoredRow) -> JsonObject:
    """Return the values of the columns that the table has now; raise unless all of them accept theirs."""
    columns = validator.layout.columns
    given = {one.name: row.values[one.key] for one in columns if one.key in row.values}
    absent: JsonObject = {one.name: None for one in columns if one.name not in given and not one.required}
    values, faults = validator.validate_new({**absent, **given})
    if faults:
        raise ColumnsChanged(row.id, faults)
    return values


async def forget_deleted(ctx: Context, table: DataTable) -> None:
    """Remove what is kept of a table's deleted rows, because the table itself goes."""
    await ctx.db.execute(_FORGET_TABLE, table_id=table.id)


async def purge_deleted_rows(ctx: Context) -> None:
    """Remove the rows of all tenants that can no longer be put back."""
    await purge_all_tenants(ctx, _PURGE, before=ctx.clock.ahead(-RESTORABLE_S))
