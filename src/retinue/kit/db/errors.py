"""What a database may answer instead of rows, in one vocabulary for both."""

from retinue.kit.errors import Conflict, Invalid, RetinueError


class UniqueViolation(Conflict):
    """Something with these values exists already."""

    def __init__(self, constraint: str) -> None:
        """`constraint` is named the same on both databases, for whoever can say it better than this."""
        super().__init__()
        self.constraint = constraint


class ReferenceViolation(Conflict):
    """What is referred to does not exist, or is still referred to."""


class RecordGone(Conflict):
    """It was removed in the meantime."""


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
