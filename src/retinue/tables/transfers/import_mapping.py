"""Mapping of the cells of a file to columns: by an explicit mapping, or by name."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from retinue.adapters.sheets import Cells
from retinue.kit.errors import InternalError, Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables.models import Column
from retinue.tables.row_validation import SYSTEM_COLUMN_NAMES, Faults
from retinue.tables.storage import Layout
from retinue.tables.values import BadValue, cell_reader

Read = Callable[[Any], Any]


class ImportMappingError(InternalError):
    """The columns of the file do not match the columns of the table."""

    code = "mapping_error"
    shown_in = "table imports"


def parse_mapping(text: str | None, layout: Layout) -> dict[str, str] | None:
    """Parse a JSON object that maps names in the file to column names."""
    if not text:
        return None
    try:
        mapping = msgspec.json.decode(text, type=dict[str, str])
    except (msgspec.MsgspecError, RecursionError):
        raise Invalid(
            {"mapping": "must be a JSON object that maps names in the file to column names"}
        ) from None
    faults = {
        f"mapping.{name}": "there is no such column"
        for name, column in mapping.items()
        if column not in layout.by_name
    }
    if faults:
        raise Invalid(faults)
    if len(set(mapping.values())) < len(mapping):
        raise Invalid({"mapping": "must not name a column twice"})
    return mapping


def parse_match(text: str | None, *, is_wanted: bool) -> list[str]:
    """Parse comma-separated names or a JSON array of names."""
    if not is_wanted:
        return []
    if not text:
        raise Invalid({"match": "is required for upserts: name the columns that identify a row"})
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text, type=list[str])
        except msgspec.MsgspecError:
            raise Invalid({"match": "must be column names"}) from None
    return [name.strip() for name in text.split(",") if name.strip()]


def _to_column_name(name: str) -> str:
    """Return the column name for a name in the file: `First Name ` becomes `first_name`."""
    return "_".join(name.replace("\ufeff", "").strip().lower().replace("-", " ").split())


class CellMap:
    """Maps the cells of rows with one header to columns."""

    def __init__(
        self, layout: Layout, header: list[str] | None, mapping: dict[str, str] | None, *, is_whole: bool
    ) -> None:
        self._cells: list[tuple[Any, Column, Read]] = []
        self._header = header
        taken: set[str] = set()
        for at, name in enumerate(header if header is not None else _names(layout, mapping)):
            column_name = (mapping or {}).get(name) if mapping is not None else _to_column_name(name)
            column = layout.by_name.get(column_name or "")
            if column is not None and column.name not in taken:
                taken.add(column.name)
                read = cell_reader(column, of_sheet=header is not None)
                self._cells.append((at if header is not None else name, column, read))
        missing = [column for column in layout.columns if column.name not in taken]
        self._defaults = {column.key: column.default for column in missing if column.default is not None}
        if not self._cells:
            raise ImportMappingError("No column of the file matches a column of the table. Send a mapping.")
        unfilled = [column.name for column in missing if column.required and column.default is None]
        if is_whole and unfilled:
            raise ImportMappingError(f"The file has no values for required columns: {', '.join(unfilled)}.")

    def values(self, cells: Cells) -> tuple[JsonObject, Faults | None]:
        """Return the values of a new row by column key, and its errors."""
        values = dict(self._defaults)
        faults: Faults | None = None
        for at, column, read in self._cells:
            try:
                cell = cells.get(at) if cells.__class__ is dict else cells[at]
                value = read(cell)
            except IndexError:
                value = None
            except BadValue as error:
                faults = faults or {}
                faults[column.name] = str(error)
                continue
            if value is None:
                value = column.default
            if value is not None:
                values[column.key] = value
            elif column.required:
                faults = faults or {}
                faults[column.name] = "is required"
        return values, faults

    def unmapped(self, many: Iterable[Cells]) -> list[str]:
        """Return the names in these rows that match no column."""
        mapped = {at for at, _, _ in self._cells}
        if self._header is not None:
            names = [name for at, name in enumerate(self._header) if at not in mapped]
        else:
            names = list(dict.fromkeys(name for cells in many for name in cells if name not in mapped))
        return [name for name in names if name.strip() and _to_column_name(name) not in SYSTEM_COLUMN_NAMES]

    def given(self, cells: Cells) -> JsonObject:
        """Return the cells by column name."""
        if isinstance(cells, dict):
            return {column.name: cells[at] for at, column, _ in self._cells if at in cells}
        return {column.name: cells[at] for at, column, _ in self._cells if at < len(cells)}


def _names(layout: Layout, mapping: dict[str, str] | None) -> list[str]:
    """Return the names that are read from the objects of a JSON file."""
    return list(mapping) if mapping is not None else list(layout.by_name)
