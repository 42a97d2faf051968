from collections.abc import Mapping, Sequence
from typing import Any

from retinue.kit.errors import Conflict, RetinueError
from retinue.kit.json_types import JsonObject


class TableNotFound(RetinueError):
    """There is no such data table."""

    status, code = 404, "table_not_found"


class RowNotFound(RetinueError):
    """There is no such row in this table."""

    status, code = 404, "row_not_found"

    def __init__(self, row_ids: Sequence[str] = ()) -> None:
        super().__init__(details={"row_ids": list(row_ids)} if row_ids else None)


class DeletedRowsNotFound(RetinueError):
    """These rows cannot be restored: they were not deleted from this table in the last ten minutes."""

    status, code = 404, "deleted_rows_not_found"


class ColumnNotFound(RetinueError):
    """There is no such column in this table."""

    status, code = 404, "column_not_found"


class ImportNotFound(RetinueError):
    """There is no such import of this table."""

    status, code = 404, "job_not_found"


class TableSlugTaken(Conflict):
    """Another data table has this slug."""

    code = "slug_taken"


class ColumnNameTaken(Conflict):
    """Another column of this table has this name."""

    code = "column_name_taken"


class TableInUse(Conflict):
    """The data table is in use; `details` lists what uses it. Remove these references first."""

    code = "table_in_use"

    def __init__(self, users: Mapping[str, Any]) -> None:
        super().__init__(details=users)


class CannotConvert(Conflict):
    """Some values of the column cannot be converted."""

    code = "cannot_convert"

    def __init__(self, column: str, count: int, examples: list[JsonObject]) -> None:
        super().__init__(
            f"{count} {'value' if count == 1 else 'values'} of {column} cannot be converted.",
            details={"column": column, "count": count, "rows": examples},
        )


class ValueTaken(Conflict):
    """Another row already has this value in a unique column."""

    code = "value_taken"

    def __init__(self, column: str, message: str | None = None) -> None:
        super().__init__(message, details={"column": column})


class ColumnsChanged(Conflict):
    """The columns have changed since the rows were deleted, and a value does not fit any more."""

    code = "columns_changed"

    def __init__(self, row_id: str, faults: Mapping[str, str]) -> None:
        super().__init__(details={"row_id": row_id, "columns": dict(faults)})


class TableBusy(Conflict):
    """An import is running. Wait for it to end, or cancel it."""

    code = "import_running"


class QueryTooExpensive(RetinueError):
    """The query takes too long on this many rows. Filter by an indexed column."""

    status, code = 422, "query_too_expensive"
