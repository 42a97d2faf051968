"""Why a file with a table could not be read; `code` is for programs, `message` for the person who sent it."""

from retinue.kit.errors import RetinueError


class SheetError(RetinueError):
    """The file could not be read."""

    status, code = 422, "parse_error"


class UnreadableSheet(SheetError):
    """The file is damaged, protected, or not what its name says."""


class SheetTooLarge(SheetError):
    """The file has more in it, or takes more memory or time, than allowed."""

    code = "too_large"


class SheetReaderUnavailable(SheetError):
    """This machine cannot confine the process that reads files, so none is read."""

    status, code = 503, "sandbox_unavailable"


_BY_CODE: dict[str, type[SheetError]] = {
    error.code: error for error in (UnreadableSheet, SheetTooLarge, SheetReaderUnavailable)
}


def refusal(code: str, message: str) -> SheetError:
    return _BY_CODE.get(code, UnreadableSheet)(message or None)
