"""Database errors, the same for both databases."""

from retinue.kit.errors import Conflict, Invalid, RetinueError


class UniqueViolation(Conflict):
    """An object with these values already exists. Use other values."""

    def __init__(self, constraint: str) -> None:
        """Take the constraint's name, the same on both databases, for callers with a better message."""
        super().__init__()
        self.constraint = constraint


class ReferenceViolation(Conflict):
    """A referenced object does not exist, or the object is still referenced by others."""


class RecordGone(Conflict):
    """The object was deleted in the meantime."""


class ValueRejected(Invalid):
    """A value of the request cannot be stored. Check for numbers out of range and invalid characters."""

    def __init__(self) -> None:
        super().__init__({"body": "contains a value that is out of range or cannot be stored"})


class DatabaseUnavailable(RetinueError):
    """The database is temporarily unavailable. Try again in a moment."""

    status, code = 503, "database_unavailable"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class RolledBack(DatabaseUnavailable):
    """The request conflicted with a concurrent one and changed nothing. Try again in a moment."""


class StorageFull(RetinueError):
    """The server has no storage space left. Free some space or contact the operator."""

    status, code = 507, "storage_full"
