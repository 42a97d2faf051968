"""Data tables: create, update, delete, and the row operations other domains use."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from retinue.files import service as files
from retinue.files.models import File
from retinue.kit.context import Context, references
from retinue.kit.context.references import Referrer
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.tables import columns, queries, rows, storage
from retinue.tables.erasure import enqueue_row_erasure
from retinue.tables.errors import TableInUse, TableSlugTaken
from retinue.tables.events import TableCreated, TableDeleted, TableUpdated
from retinue.tables.filters import FilterBuilder
from retinue.tables.loaders import fetch_for_writing, fetch_table
from retinue.tables.models import Column, DataTable, TableImport
from retinue.tables.row_deletion import forget_deleted
from retinue.tables.row_validation import RowValidator, find_taken_values, raise_if_taken
from retinue.tables.schemas import TableCreate, TableUpdate, Upsert, Upserted
from retinue.tables.storage import Layout, new_row_key
from retinue.tables.upsert_plan import UpsertPlan, lock_table, matched_columns, plan_upsert

REFERENCE = "data_table"
"""The target name in a `kit.context.references.Reference`: a table that is referred to cannot be deleted."""

MAX_FOUND_ROWS = 1000
_MAX_SLUG_LENGTH = 64


async def create(ctx: Context, body: TableCreate) -> DataTable:
    built: list[Column] = []
    for number, column in enumerate(body.columns):
        place = f"columns.{number}"
        built.append(columns.build_column(column, built, number + 1, place))
        await columns.require_target_table(ctx, built[-1], place)
    table = DataTable(
        name=body.name,
        slug=await _choose_slug(ctx, body),
        description=body.description or "",
        columns=built,
        next_key=len(built) + 1,
        row_key=new_row_key(),
        created_by=ctx.principal.id,
    )
    await ctx.db.insert(table)
    ctx.emit(TableCreated(table_id=table.id, name=table.name, slug=table.slug))
    return table


async def _choose_slug(ctx: Context, body: TableCreate) -> str:
    if body.slug is not None:
        if await ctx.db.find(DataTable, slug=body.slug) is not None:
            raise TableSlugTaken
        return body.slug
    for slug in _slug_candidates(body.name):
        if await ctx.db.find(DataTable, slug=slug) is None:
            return slug
    raise TableSlugTaken


def _slug_candidates(name: str) -> Iterator[str]:
    """Yield `cafe-orders` for `Café orders`, then the same with a number appended."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[: _MAX_SLUG_LENGTH - 8].strip("-") or "table"
    yield slug
    for number in range(2, 100_000):
        yield f"{slug}-{number}"


async def update(ctx: Context, table: DataTable, body: TableUpdate) -> DataTable:
    sent = sent_fields(body)
    if "description" in sent:
        sent["description"] = sent["description"] or ""
    changes = {name: value for name, value in sent.items() if getattr(table, name) != value}
    if not changes:
        return table
    other = await ctx.db.find(DataTable, slug=changes["slug"]) if "slug" in changes else None
    if other is not None:
        raise TableSlugTaken
    await ctx.db.update(table, **changes)
    ctx.emit(TableUpdated(table_id=table.id, name=table.name, slug=table.slug, changes=sorted(changes)))
    return table


async def find_users(ctx: Context, table: DataTable) -> dict[str, list[Referrer]]:
    return await references.find_referrers(ctx, REFERENCE, table.id)


async def delete(ctx: Context, table: DataTable) -> None:
    """Delete the table, its imports and, in the background, its rows; refused while it is in use."""
    locked = await lock_table(ctx, table.id)
    users = await find_users(ctx, locked)
    used = {kind: [referrer.name for referrer in referrers] for kind, referrers in users.items() if referrers}
    if used:
        raise TableInUse(used)
    for run in await ctx.db.all(TableImport, table_id=locked.id):
        file = await ctx.db.get(File, run.file_id)
        if file is not None:
            await files.remove(ctx, file)
        if run.row_key != locked.row_key:
            enqueue_row_erasure(ctx, run.row_key)
        await ctx.db.delete(run)
    enqueue_row_erasure(ctx, locked.row_key)
    await forget_deleted(ctx, locked)
    await ctx.db.delete(locked)
    ctx.emit(TableDeleted(table_id=locked.id, name=locked.name, slug=locked.slug))


async def find_referring_tables(ctx: Context, table_id: str) -> list[Referrer]:
    """Return other tables with a column that refers to rows of this one."""
    return [
        Referrer(table.id, f"{table.name}.{column.name}")
        for table in await ctx.db.all(DataTable)
        if table.id != table_id
        for column in table.columns
        if column.table_id == table_id
    ]


async def detach_reference(ctx: Context, table_id: str) -> None:
    """Do nothing: a table that is referred to cannot be deleted."""


async def insert_row(ctx: Context, table_id: str, values: JsonObject) -> JsonObject:
    """Create a row as `POST …/rows` does; return it as the API shows it."""
    table = await fetch_for_writing(ctx, table_id)
    (row,) = await rows.create(ctx, table, [values])
    return Layout(table).show(row)


async def find_rows(
    ctx: Context,
    table_id: str,
    filter: JsonObject | None = None,
    *,
    sort: str | None = None,
    limit: int = 100,
    search: str = "",
) -> list[JsonObject]:
    """Return the matching rows as the API shows them."""
    table = await fetch_table(ctx, table_id)
    layout = Layout(table)
    filtering = FilterBuilder(layout)
    if filter:
        filtering.add_filter(filter)
    if search:
        filtering.add_search(search)
    matching = await queries.list_rows(
        ctx, table, filtering.condition(), sort=sort, limit=max(0, min(limit, MAX_FOUND_ROWS))
    )
    return [layout.show(row) for row in matching]


async def update_row(ctx: Context, table_id: str, row_id: str, values: JsonObject) -> JsonObject:
    """Change the given columns, as `PATCH …/rows/:rowId` does."""
    table = await fetch_for_writing(ctx, table_id)
    return Layout(table).show(await rows.update(ctx, table, row_id, values))


async def upsert_row(
    ctx: Context, table_id: str, match: list[str], values: JsonObject
) -> tuple[JsonObject, Literal["created", "updated"]]:
    """Update the row with the same values in the matched columns, or create one."""
    table, plan = await _upsert(ctx, table_id, match, [values], is_dry=False)
    planned_row = plan.planned[0]
    assert planned_row is not None
    return Layout(table).show(planned_row.row), "created" if planned_row.is_new else "updated"


async def upsert(ctx: Context, table: DataTable, body: Upsert) -> list[Upserted]:
    _, plan = await _upsert(ctx, table.id, body.match, body.rows, is_dry=body.dry_run)
    return [
        Upserted(
            id=None if body.dry_run and planned_row.is_new else planned_row.row.id,
            action="created" if planned_row.is_new else "updated",
        )
        for planned_row in plan.planned
        if planned_row is not None
    ]


async def _upsert(
    ctx: Context, table_id: str, match: list[str], given_rows: list[JsonObject], *, is_dry: bool
) -> tuple[DataTable, UpsertPlan]:
    table = await lock_table(ctx, table_id)
    layout = Layout(table)
    matched = matched_columns(layout, table, match)
    plan = await plan_upsert(ctx, table, matched, given_rows, RowValidator(layout))
    if plan.faults:
        raise Invalid(
            {
                f"rows.{at}.{name}": message
                for at, faults in plan.faults.items()
                for name, message in faults.items()
            }
        )
    if not is_dry:
        await _apply_plan(ctx, table, layout, plan)
    return table, plan


async def _apply_plan(ctx: Context, table: DataTable, layout: Layout, plan: UpsertPlan) -> None:
    created, updated = plan.created(), plan.updated()
    places = [f"rows.{at}" for at in range(len(plan.planned))]
    many = [planned_row.row.values if planned_row is not None else {} for planned_row in plan.planned]
    await rows.require_references(ctx, layout, many, places)
    touched = [*updated, *created]
    raise_if_taken(await find_taken_values(ctx, layout, table.row_key, touched), ["rows"] * len(touched))
    for row in touched:
        rows.require_size(row)
    await storage.update(ctx, layout, table.row_key, updated)
    await rows.insert_rows(ctx, table, layout, created)
    changes: dict[str, set[str]] = {}
    for planned_row in plan.planned:
        if planned_row is not None:
            changes.setdefault(planned_row.row.id, set()).update(planned_row.changes)
    for row in created:
        rows.emit_created(ctx, table, layout, row)
    for row in updated:
        rows.emit_updated(ctx, table, layout, row, sorted(changes[row.id]))
