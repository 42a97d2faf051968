from collections.abc import Mapping
from typing import Any

from retinue.kit.errors import Conflict, RetinueError


class TableNotFound(RetinueError):
    """There is no such data table."""

    status, code = 404, "table_not_found"


class RowNotFound(RetinueError):
    """There is no such row in this table."""

    status, code = 404, "row_not_found"


class ColumnNotFound(RetinueError):
    """There is no such column in this table."""

    status, code = 404, "column_not_found"


class ImportNotFound(RetinueError):
    """There is no such import of this table."""

    status, code = 404, "job_not_found"


class SlugTaken(Conflict):
    """Another data table has this slug."""

    code = "slug_taken"


class ColumnNameTaken(Conflict):
    """Another column of this table has this name."""

    code = "column_name_taken"


class TableInUse(Conflict):
    """The data table is used elsewhere; `details` says by what."""

    code = "table_in_use"

    def __init__(self, users: Mapping[str, Any]) -> None:
        super().__init__(details=users)


class CannotConvert(Conflict):
    """Some values of the column cannot become what was asked for."""

    code = "cannot_convert"

    def __init__(self, column: str, count: int, examples: list[dict[str, Any]]) -> None:
        super().__init__(
            f"{count} {'value' if count == 1 else 'values'} of {column} cannot be converted.",
            details={"column": column, "count": count, "rows": examples},
        )


class ValueTaken(Conflict):
    """Another row has this value in a column where every value is there once."""

    code = "value_taken"

    def __init__(self, column: str, message: str | None = None) -> None:
        super().__init__(message, details={"column": column})


class TableBusy(Conflict):
    """An import is running; wait for its end or cancel it."""

    code = "import_running"


class QueryTooExpensive(RetinueError):
    """The question takes too long for so many rows; filter by columns that are indexed, or by less time."""

    status, code = 422, "query_too_expensive"


class VersionConflict(RetinueError):
    """The row was changed since it was read."""

    status, code = 412, "version_conflict"

    def __init__(self, updated_at: str) -> None:
        super().__init__(details={"updated_at": updated_at})


class UnreadableFile(RetinueError):
    """The file could not be read."""

    status, code = 422, "parse_error"
