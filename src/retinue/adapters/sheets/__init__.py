"""Tables in untrusted files (CSV, JSON, XLSX), read row by row in a locked-down process."""

from retinue.adapters.sheets.errors import SheetError, SheetReaderUnavailable, SheetTooLarge, UnreadableSheet
from retinue.adapters.sheets.reader import FORMATS, Cells, SheetRows, read, require_format

__all__ = [
    "FORMATS",
    "Cells",
    "SheetError",
    "SheetReaderUnavailable",
    "SheetRows",
    "SheetTooLarge",
    "UnreadableSheet",
    "read",
    "require_format",
]
