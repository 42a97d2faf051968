"""Tables in files of strangers (CSV, JSON, XLSX), read row by row in a process that has nothing to lose."""

from retinue.adapters.sheets.errors import SheetError, SheetReaderUnavailable, SheetTooLarge, UnreadableSheet
from retinue.adapters.sheets.reading import FORMATS, Cells, SheetRows, read

__all__ = [
    "FORMATS",
    "Cells",
    "SheetError",
    "SheetReaderUnavailable",
    "SheetRows",
    "SheetTooLarge",
    "UnreadableSheet",
    "read",
]
