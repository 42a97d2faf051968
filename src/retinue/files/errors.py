from retinue.kit.errors import RetinueError


class FileNotFound(RetinueError):
    """There is no such file."""

    status, code = 404, "file_not_found"
