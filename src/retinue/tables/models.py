from enum import StrEnum
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.models import ServerDefault, TenantRecord, metadata, table
from retinue.kit.db.types import Json, Text
from retinue.kit.json_types import JsonObject

TEXT_SLOTS = tuple(f"t{number}" for number in range(1, 7))
NUMBER_SLOTS = tuple(f"n{number}" for number in range(1, 7))
UNIQUE_SLOTS = tuple(f"u{number}" for number in range(1, 5))


class ColumnType(StrEnum):
    text = "text"
    number = "number"
    integer = "integer"
    boolean = "boolean"
    date = "date"
    datetime = "datetime"
    select = "select"
    multi_select = "multi_select"
    email = "email"
    url = "url"
    json = "json"
    file = "file"
    reference = "reference"


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column as stored in its table.

    `key` names its values inside a row, so that renaming a column changes no row. `slot` is the indexed place
    its values are copied to, `unique_slot` the uniquely indexed one (ADR 14).
    """

    id: str
    name: str
    type: ColumnType
    required: bool = False
    unique: bool = False
    indexed: bool = False
    default: Any = None
    options: tuple[str, ...] = ()
    table_id: str | None = None
    key: str
    slot: str | None = None
    unique_slot: str | None = None


@table(
    "data_tables", prefix="tbl", unique=[("tenant_id", "slug"), ("row_key",)], indexes=[("tenant_id", "name")]
)
class DataTable(TenantRecord, kw_only=True):
    """A table of a tenant.

    Its rows are those with its `row_key`; a `replace` import switches it to a new key.
    """

    name: str
    slug: str
    description: str = ""
    columns: list[Column]
    next_key: int = 1
    row_key: int
    row_count: int = 0
    created_by: str


class ImportStatus(StrEnum):
    pending = "pending"
    running = "running"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"


TERMINAL_STATUSES = (ImportStatus.completed, ImportStatus.failed, ImportStatus.cancelled)


class ImportMode(StrEnum):
    append = "append"
    upsert = "upsert"
    replacing = "replace"


@table(
    "table_imports",
    prefix="job",
    indexes=[("tenant_id", "table_id", "created_at"), ("status", "updated_at")],
)
class TableImport(TenantRecord, kw_only=True):
    """An import of a file into a table; `rows_read` is updated in the transaction that stores the rows.

    Rows are stored under `row_key`; `replace` uses a separate key until all of them are there.
    """

    table_id: str
    file_id: str
    filename: str
    format: str
    mode: ImportMode
    match: list[str]
    mapping: dict[str, str] | None = None
    row_key: int
    status: ImportStatus = ImportStatus.pending
    rows_read: int = 0
    rows_created: int = 0
    rows_updated: int = 0
    rows_failed: int = 0
    errors: list[JsonObject]
    error: JsonObject | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    created_by: str
    unmapped_columns: Annotated[list[str], ServerDefault("'[]'")] = []
    """Columns of the file that match no column of the table."""
    is_dry_run: Annotated[bool, ServerDefault("false")] = False
    problems: Annotated[list[JsonObject], ServerDefault("'[]'")] = []
    problem_counts: Annotated[list[JsonObject], ServerDefault("'[]'")] = []
    sample: JsonObject | None = None
    """The columns and the first rows of the file as they are in it; of dry runs only."""


def _slot(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Double() if name in NUMBER_SLOTS else Text, nullable=True)


rows = sa.Table(
    "table_rows",
    metadata,
    # The table key is in every condition, so it comes first. ADR 17: ids grow with time, so inserts append.
    sa.Column("table_key", sa.BigInteger(), primary_key=True, autoincrement=False),
    sa.Column("id", Text, primary_key=True),
    sa.Column("tenant_id", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.Column("data", Json(JsonObject), nullable=False),
    *(_slot(name) for name in (*TEXT_SLOTS, *NUMBER_SLOTS, *UNIQUE_SLOTS)),
)


def _index(slot: str) -> None:
    """Create a partial index over rows with a value, so that unused slots cost nothing."""
    filled = rows.c[slot].is_not(None)
    is_unique = slot in UNIQUE_SLOTS
    columns = [rows.c.table_key, rows.c[slot]] if is_unique else [rows.c.table_key, rows.c[slot], rows.c.id]
    kind = "uq" if is_unique else "ix"
    sa.Index(
        f"{kind}_table_rows_table_key_{slot}",
        *columns,
        unique=is_unique,
        sqlite_where=filled,
        postgresql_where=filled,
    )


for _name in (*TEXT_SLOTS, *NUMBER_SLOTS, *UNIQUE_SLOTS):
    _index(_name)


deleted_rows = sa.Table(
    "deleted_table_rows",
    metadata,
    # Deleted rows without their slots, so that they restrict no other row; they are kept for a short time.
    sa.Column("id", Text, primary_key=True),
    sa.Column("table_id", Text, primary_key=True),
    sa.Column("tenant_id", Text, nullable=False),
    sa.Column("deletion_id", Text, nullable=False),
    sa.Column("deleted_at", Text, nullable=False),
    sa.Column("created_at", Text, nullable=False),
    sa.Column("updated_at", Text, nullable=False),
    sa.Column("data", Json(JsonObject), nullable=False),
    sa.Index("ix_deleted_table_rows_table_id_deletion_id", "table_id", "deletion_id"),
    sa.Index("ix_deleted_table_rows_deleted_at", "deleted_at"),
)
