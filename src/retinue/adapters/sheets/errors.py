"""Failures of reading a table file; `code` is for programs, `message` for the sender."""

from retinue.kit.errors import InternalError


class SheetError(InternalError):
    """The file could not be read. Check that it opens on your computer and upload it again."""

    code = "parse_error"
    shown_in = "table imports"


class UnreadableSheet(SheetError):
    """The file is damaged, protected, or not of the type its name suggests. Save it again and retry."""


class SheetTooLarge(SheetError):
    """The file has too much content, or takes too much memory or time. Split it."""

    code = "too_large"


class SheetReaderUnavailable(SheetError):
    """Files cannot be read safely on this machine. Ask the operator to check the sandbox."""

    code = "sandbox_unavailable"


class SheetFormatNotInstalled(SheetError):
    """This installation does not read XLSX files. Save the file as CSV, or ask the operator for them."""

    code = "not_configured"


_BY_CODE: dict[str, type[SheetError]] = {
    error.code: error for error in (UnreadableSheet, SheetTooLarge, SheetReaderUnavailable)
}


def sheet_error(code: str, message: str) -> SheetError:
    return _BY_CODE.get(code, UnreadableSheet)(message or None)
