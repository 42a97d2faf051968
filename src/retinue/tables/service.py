"""Data tables are created, changed and deleted; and what other domains do with the rows of one."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Literal

from retinue.files import service as files
from retinue.files.models import File
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.references import Referrer
from retinue.kit.schemas import given
from retinue.tables import columns, queries, rows
from retinue.tables.checking import Checker
from retinue.tables.errors import SlugTaken, TableInUse
from retinue.tables.events import TableCreated, TableDeleted, TableUpdated
from retinue.tables.filters import Filtering
from retinue.tables.loaders import fetch_for_writing, fetch_table
from retinue.tables.models import Column, DataTable, TableImport
from retinue.tables.schemas import TableCreate, TableUpdate, Upsert, Upserted
from retinue.tables.storage import Layout, new_row_key
from retinue.tables.upserting import Plan, hold_table, matched_columns, plan

REFERENCE = "data_table"
"""What other domains point at with a `kit.references.Reference`: a table they use is not deleted."""

MOST_FOUND = 1000
_LONGEST_SLUG = 64


async def create(ctx: Context, body: TableCreate) -> DataTable:
    made: list[Column] = []
    for number, column in enumerate(body.columns):
        place = f"columns.{number}"
        made.append(columns.declared(column, made, number + 1, place))
        await columns.check_target(ctx, made[-1], place)
    table = DataTable(
        name=body.name,
        slug=await _slug(ctx, body),
        description=body.description or "",
        columns=made,
        next_key=len(made) + 1,
        row_key=new_row_key(),
        created_by=ctx.principal.id,
    )
    await ctx.db.insert(table)
    ctx.emit(TableCreated(table_id=table.id, name=table.name, slug=table.slug))
    return table


async def _slug(ctx: Context, body: TableCreate) -> str:
    if body.slug is not None:
        if await ctx.db.find(DataTable, slug=body.slug) is not None:
            raise SlugTaken
        return body.slug
    for slug in _slugs(body.name):
        if await ctx.db.find(DataTable, slug=slug) is None:
            return slug
    raise SlugTaken


def _slugs(name: str) -> Iterator[str]:
    """`Café orders` becomes `cafe-orders`, then the same with a number behind it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[: _LONGEST_SLUG - 8].strip("-") or "table"
    yield slug
    for number in range(2, 100_000):
        yield f"{slug}-{number}"


async def update(ctx: Context, table: DataTable, body: TableUpdate) -> DataTable:
    wanted = given(body)
    if "description" in wanted:
        wanted["description"] = wanted["description"] or ""
    changes = {name: value for name, value in wanted.items() if getattr(table, name) != value}
    if not changes:
        return table
    other = await ctx.db.find(DataTable, slug=changes["slug"]) if "slug" in changes else None
    if other is not None:
        raise SlugTaken
    await ctx.db.update(table, **changes)
    ctx.emit(TableUpdated(table_id=table.id, name=table.name, slug=table.slug, changes=sorted(changes)))
    return table


async def delete(ctx: Context, table: DataTable) -> None:
    """Delete the table, its imports and, after the answer, its rows; one that is used stays."""
    held = await hold_table(ctx, table.id)
    users = await references.referrers(ctx, REFERENCE, held.id)
    used = {kind: [one.name for one in found] for kind, found in users.items() if found}
    if used:
        raise TableInUse(used)
    from retinue.tables.erasing import erase

    for run in await ctx.db.all(TableImport, table_id=held.id):
        file = await ctx.db.get(File, run.file_id)
        if file is not None:
            await files.remove(ctx, file)
        if run.row_key != held.row_key:
            erase(ctx, run.row_key)
        await ctx.db.delete(run)
    erase(ctx, held.row_key)
    await ctx.db.delete(held)
    ctx.emit(TableDeleted(table_id=held.id, name=held.name, slug=held.slug))


async def find_referring_tables(ctx: Context, table_id: str) -> list[Referrer]:
    """Other tables with a column that names rows of this one."""
    return [
        Referrer(table.id, f"{table.name}.{column.name}")
        for table in await ctx.db.all(DataTable)
        if table.id != table_id
        for column in table.columns
        if column.table_id == table_id
    ]


async def keep_reference(ctx: Context, table_id: str) -> None:
    """A table that is referred to is not deleted, so there is nothing to let go of."""


async def insert_row(ctx: Context, table_id: str, values: dict[str, Any]) -> dict[str, Any]:
    """Add a row to a table, as `POST …/rows` does; the row as it is shown."""
    table = await fetch_for_writing(ctx, table_id)
    (row,) = await rows.create(ctx, table, [values])
    return Layout(table).show(row)


async def find_rows(
    ctx: Context,
    table_id: str,
    filter: dict[str, Any] | None = None,
    *,
    sort: str | None = None,
    limit: int = 100,
    search: str = "",
) -> list[dict[str, Any]]:
    """Rows that a filter matches, as they are shown."""
    table = await fetch_table(ctx, table_id)
    layout = Layout(table)
    filtering = Filtering(layout)
    if filter:
        filtering.add_filter(filter)
    if search:
        filtering.add_search(search)
    found = await queries.some(
        ctx, table, filtering.condition(), sort=sort, limit=max(0, min(limit, MOST_FOUND))
    )
    return [layout.show(row) for row in found]


async def update_row(ctx: Context, table_id: str, row_id: str, values: dict[str, Any]) -> dict[str, Any]:
    """Change the columns that are named, as `PATCH …/rows/:rowId` does."""
    table = await fetch_for_writing(ctx, table_id)
    return Layout(table).show(await rows.change(ctx, table, row_id, values))


async def upsert_row(
    ctx: Context, table_id: str, match: list[str], values: dict[str, Any]
) -> tuple[dict[str, Any], Literal["created", "updated"]]:
    """Change the one row with the same values in the matched columns, or add one."""
    table, planned = await _upsert(ctx, table_id, match, [values], is_dry=False)
    one = planned.planned[0]
    assert one is not None
    return Layout(table).show(one.row), "created" if one.is_new else "updated"


async def upsert(ctx: Context, table: DataTable, body: Upsert) -> list[Upserted]:
    _, planned = await _upsert(ctx, table.id, body.match, body.rows, is_dry=body.dry_run)
    return [
        Upserted(
            id=None if body.dry_run and one.is_new else one.row.id,
            action="created" if one.is_new else "updated",
        )
        for one in planned.planned
        if one is not None
    ]


async def _upsert(
    ctx: Context, table_id: str, match: list[str], given_rows: list[dict[str, Any]], *, is_dry: bool
) -> tuple[DataTable, Plan]:
    table = await hold_table(ctx, table_id)
    layout = Layout(table)
    matched = matched_columns(layout, table, match)
    planned = await plan(ctx, table, matched, given_rows, Checker(layout))
    if planned.faults:
        raise Invalid(
            {
                f"rows.{at}.{name}": message
                for at, faults in planned.faults.items()
                for name, message in faults.items()
            }
        )
    if not is_dry:
        await _carry_out(ctx, table, layout, planned)
    return table, planned


async def _carry_out(ctx: Context, table: DataTable, layout: Layout, planned: Plan) -> None:
    from retinue.tables import storage
    from retinue.tables.checking import refuse_taken, taken_values

    created, updated = planned.created(), planned.updated()
    places = [f"rows.{at}" for at in range(len(planned.planned))]
    many = [one.row.values if one is not None else {} for one in planned.planned]
    await rows.check_links(ctx, layout, many, places)
    touched = [*updated, *created]
    refuse_taken(await taken_values(ctx, layout, table.row_key, touched), ["rows"] * len(touched))
    for row in touched:
        rows.check_size(row)
    await storage.update(ctx, layout, table.row_key, updated)
    await rows.add(ctx, table, layout, created)
    changes: dict[str, set[str]] = {}
    for one in planned.planned:
        if one is not None:
            changes.setdefault(one.row.id, set()).update(one.changes)
    for row in created:
        rows.tell_created(ctx, table, layout, row)
    for row in updated:
        rows.tell_updated(ctx, table, layout, row, sorted(changes[row.id]))
