from retinue.kit.context.references import Referrer
from retinue.kit.errors import Conflict, RetinueError


class FileNotFound(RetinueError):
    """There is no such file."""

    status, code = 404, "file_not_found"


class FileInUse(Conflict):
    """This file is in use. Detach it first, or delete it with force=true."""

    code = "file_in_use"

    def __init__(self, users: dict[str, list[Referrer]]) -> None:
        super().__init__(details={kind: list(referrers) for kind, referrers in users.items()})


class RangeNotSatisfiable(RetinueError):
    """The requested range is outside the file."""

    status, code = 416, "range_not_satisfiable"

    def __init__(self, size_bytes: int = 0) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{size_bytes}"})
