from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.messages import PatternMessage
from retinue.tables.models import Column, ColumnType, DataTable, ImportMode, ImportStatus, TableImport

RESERVED_COLUMN_NAMES = frozenset({"id", "created_at", "updated_at", "and", "or", "rows"})
MAX_COLUMNS = 100

Slug = Annotated[
    str,
    Meta(max_length=64, pattern=r"^[a-z0-9][a-z0-9_-]*$(?!\n)"),
    PatternMessage(
        "must be lowercase letters, digits, hyphens or underscores, beginning with a letter or digit"
    ),
]
Description = Annotated[str, Meta(max_length=10_000)]
ColumnName = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_]{0,62}$(?!\n)"),
    PatternMessage("must be at most 63 lowercase letters, digits or underscores, beginning with a letter"),
]
Option = Annotated[str, Meta(min_length=1, max_length=200)]
Options = Annotated[list[Option], Meta(max_length=500)]
TableId = Annotated[str, Meta(max_length=64)]
Position = Annotated[int, Meta(ge=0, le=MAX_COLUMNS)]
Rows = Annotated[list[JsonObject], Meta(min_length=1, max_length=1000)]


class ColumnCreate(Schema, kw_only=True):
    name: ColumnName
    type: ColumnType
    required: bool = False
    unique: bool = False
    indexed: bool = False
    default: Any = None
    options: Options | None = None
    table_id: TableId | None = None
    position: Position | None = None


class ColumnUpdate(Schema, kw_only=True):
    name: ColumnName | UnsetType = UNSET
    type: ColumnType | UnsetType = UNSET
    required: bool | UnsetType = UNSET
    unique: bool | UnsetType = UNSET
    indexed: bool | UnsetType = UNSET
    default: Any = UNSET
    options: Options | UnsetType | None = UNSET
    table_id: TableId | UnsetType | None = UNSET
    position: Position | UnsetType = UNSET


class TableCreate(Schema, kw_only=True):
    name: Name
    slug: Slug | None = None
    description: Description | None = None
    columns: Annotated[list[ColumnCreate], Meta(max_length=MAX_COLUMNS)] = []


class TableUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET


class ColumnOut(Schema, kw_only=True):
    """`table_id` is the table whose rows a `reference` column refers to."""

    id: str
    name: str
    type: ColumnType
    required: bool
    unique: bool
    indexed: bool
    default: Any
    options: tuple[str, ...]
    table_id: str | None
    position: int

    @classmethod
    def at(cls, position: int, column: Column) -> "ColumnOut":
        return cls.of(column, position=position)


class TableOut(Schema, kw_only=True):
    id: str
    name: str
    slug: str
    description: str
    columns: list[ColumnOut]
    row_count: int
    created_by: str
    created_at: Instant
    updated_at: Instant

    @classmethod
    def from_record(cls, table: DataTable) -> "TableOut":
        columns = [ColumnOut.at(position, column) for position, column in enumerate(table.columns)]
        return cls.of(table, columns=columns)


class TableList(ListQuery, kw_only=True):
    pass


FilterText = Annotated[str, Meta(max_length=20_000)]


RowId = Annotated[str, Meta(max_length=64)]


class RowQuery(PageQuery, kw_only=True):
    """`filter` is JSON; `where[column]=value` additionally selects rows with exactly this value."""

    search: Annotated[str, Meta(max_length=100)] | None = None
    sort: Annotated[str, Meta(max_length=64)] | None = None
    filter: FilterText | None = None
    fields: Annotated[str, Meta(max_length=8000)] | None = None
    after: RowId | None = None
    before: RowId | None = None


class AggregateQuery(msgspec.Struct, kw_only=True):
    group_by: Annotated[str, Meta(max_length=300)] = ""
    metrics: Annotated[str, Meta(max_length=2000)] = "count"
    filter: FilterText | None = None
    search: Annotated[str, Meta(max_length=100)] | None = None


class RowExportQuery(msgspec.Struct, kw_only=True):
    format: Literal["csv", "json", "xlsx"] = "csv"
    filter: FilterText | None = None
    search: Annotated[str, Meta(max_length=100)] | None = None
    fields: Annotated[str, Meta(max_length=8000)] | None = None


class RowPagination(msgspec.Struct):
    """`total` counts filtered rows up to 100,000; beyond that, `total_is_exact` is false."""

    page: int
    per_page: int
    total: int
    total_pages: int
    total_is_exact: bool


class RowPage(msgspec.Struct):
    data: list[JsonObject]
    pagination: RowPagination


class Upsert(Schema, kw_only=True):
    match: Annotated[list[str], Meta(min_length=1, max_length=5)]
    rows: Rows
    dry_run: bool = False


class RowsUpdate(Schema, kw_only=True):
    """Each entry of `rows` has the `id` of a row and the columns to change."""

    rows: Annotated[list[JsonObject], Meta(min_length=1, max_length=100)]


class Upserted(Schema, kw_only=True):
    """`id` is null for a row that a dry run would create."""

    id: str | None
    action: Literal["created", "updated"]


class RowsDelete(Schema, kw_only=True):
    """`filter` is one filter, or a list of filters that must all match."""

    filter: JsonObject | list[JsonObject]
    dry_run: bool = False


class RowsDeleted(Schema, kw_only=True):
    matched: int
    deleted: int
    deletion_id: str | None


class RowsRestore(Schema, kw_only=True):
    """Either `row_ids` or `deletion_id`."""

    row_ids: Annotated[list[RowId], Meta(min_length=1, max_length=1000)] | None = None
    deletion_id: RowId | None = None


class RowsRestored(Schema, kw_only=True):
    restored: int
    row_ids: list[str]


class ColumnChangeQuery(msgspec.Struct, kw_only=True):
    dry_run: bool = False


class ImportStarted(Schema, kw_only=True):
    job_id: str


class TableImportQuery(msgspec.Struct, kw_only=True):
    dry_run: bool = False


class ImportProblem(Schema, kw_only=True):
    line: int | None
    row: int
    column: str
    message: str


class ImportProblemCount(Schema, kw_only=True):
    column: str
    message: str
    rows: int


class ImportSample(Schema, kw_only=True):
    columns: list[str]
    rows: list[list[str]]


class ImportOut(Schema, kw_only=True):
    """`errors` has the first 100 rows that were skipped; `rows_failed` counts all of them.

    `unmapped_columns` lists columns of the file that match no column of the table.
    """

    id: str
    table_id: str
    filename: str
    format: str
    mode: ImportMode
    match: list[str]
    status: ImportStatus
    rows_read: int
    rows_created: int
    rows_updated: int
    rows_failed: int
    errors: list[JsonObject]
    problems: list[ImportProblem]
    problem_counts: list[ImportProblemCount]
    unmapped_columns: list[str]
    dry_run: bool
    sample: ImportSample | None
    error: JsonObject | None
    created_by: str
    created_at: Instant
    started_at: Instant | None
    completed_at: Instant | None

    @classmethod
    def from_record(cls, run: TableImport) -> "ImportOut":
        return cls.of(
            run,
            dry_run=run.is_dry_run,
            problems=[msgspec.convert(one, ImportProblem) for one in run.problems],
            problem_counts=[msgspec.convert(one, ImportProblemCount) for one in run.problem_counts],
            sample=None if run.sample is None else msgspec.convert(run.sample, ImportSample),
        )
