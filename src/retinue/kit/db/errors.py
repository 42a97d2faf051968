"""What a database may answer instead of rows, in one vocabulary for both."""

from retinue.kit.errors import Invalid, RetinueError


class UniqueViolation(Exception):
    """A row with these values exists; `constraint` is named the same on both databases."""

    def __init__(self, constraint: str) -> None:
        super().__init__(constraint)
        self.constraint = constraint


class ReferenceViolation(Exception):
    """A row refers to nothing, or something still refers to a row that was to go."""


class ValueRejected(Invalid):
    """The database cannot store a value of the request."""

    def __init__(self) -> None:
        super().__init__({"body": "a value is out of range or cannot be stored"})


class DatabaseUnavailable(RetinueError):
    """The database does not answer; try again in a moment."""

    status, code = 503, "database_unavailable"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class StorageFull(RetinueError):
    """There is no space left to store anything."""

    status, code = 507, "storage_full"
