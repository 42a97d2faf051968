from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

_TABLE = {"table_id": "tbl_…", "name": "Customers", "slug": "customers"}
_ROW = {
    "table_id": "tbl_…",
    "row_id": "row_…",
    "row": {"id": "row_…", "email": "ada@example.com", "created_at": "…", "updated_at": "…"},
}


class TableEvent(Event, kw_only=True):
    table_id: str
    name: str
    slug: str


@event("data_table.created", subject="table_id", audited=True, example=_TABLE)
class TableCreated(TableEvent, kw_only=True):
    """A data table was created."""


@event("data_table.updated", subject="table_id", audited=True, example={**_TABLE, "changes": ["columns.age"]})
class TableUpdated(TableEvent, kw_only=True):
    """A data table or one of its columns changed."""

    changes: list[str]


@event("data_table.deleted", subject="table_id", audited=True, example=_TABLE)
class TableDeleted(TableEvent, kw_only=True):
    """A data table was deleted with all its rows."""


class RowEvent(Event, kw_only=True):
    table_id: str
    row_id: str
    row: JsonObject
    changes: list[str]


@event("data_table.row.created", subject="row_id", example={**_ROW, "changes": []})
class RowCreated(RowEvent, kw_only=True):
    """A row was created. Imported rows cause no such events."""


@event("data_table.row.updated", subject="row_id", example={**_ROW, "changes": ["email"]})
class RowUpdated(RowEvent, kw_only=True):
    """A row was changed; `changes` names the columns with a new value."""


@event("data_table.row.deleted", subject="row_id", example={**_ROW, "changes": []})
class RowDeleted(RowEvent, kw_only=True):
    """A row was deleted; `row` holds its last values."""


@event("data_table.row.restored", subject="row_id", example={**_ROW, "changes": []})
class RowRestored(RowEvent, kw_only=True):
    """A deleted row was put back with the values it had."""


@event(
    "data_table.rows_restored",
    subject="table_id",
    audited=True,
    example={"table_id": "tbl_…", "name": "Customers", "slug": "customers", "restored": 3},
)
class RowsPutBack(TableEvent, kw_only=True):
    """Deleted rows of a data table were put back; each has its own `data_table.row.restored` as well."""

    restored: int


@event(
    "data_table.import.completed",
    subject="table_id",
    audited=True,
    example={
        "table_id": "tbl_…",
        "job_id": "job_…",
        "status": "completed",
        "mode": "append",
        "rows_read": 3,
        "rows_created": 2,
        "rows_updated": 0,
        "rows_failed": 1,
    },
)
class ImportCompleted(Event, kw_only=True):
    """An import ended; `status` says whether it completed, failed or was cancelled."""

    table_id: str
    job_id: str
    status: str
    mode: str
    rows_read: int
    rows_created: int
    rows_updated: int
    rows_failed: int
