"""Which cell of a file goes into which column: by the mapping of whoever sent it, or by the same name."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.adapters.sheets import Cells
from retinue.kit.errors import Invalid, RetinueError
from retinue.tables.checking import Faults
from retinue.tables.models import Column
from retinue.tables.storage import Layout
from retinue.tables.values import BadValue, cell_reader

Read = Callable[[Any], Any]


class MappingFault(RetinueError):
    """The file and the table do not fit together."""

    status, code = 422, "mapping_error"


def read_mapping(text: str | None, layout: Layout) -> dict[str, str] | None:
    """A JSON object from what the file calls a cell to the column it goes into."""
    if not text:
        return None
    try:
        mapping = msgspec.json.decode(text, type=dict[str, str])
    except (msgspec.MsgspecError, RecursionError):
        raise Invalid(
            {"mapping": "must be a JSON object of names in the file and names of columns"}
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


def read_match(text: str | None, *, is_wanted: bool) -> list[str]:
    """Names with commas between them, or a JSON array of names."""
    if not is_wanted:
        return []
    if not text:
        raise Invalid({"match": "is required to find the rows that are there already"})
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text, type=list[str])
        except msgspec.MsgspecError:
            raise Invalid({"match": "must be names of columns"}) from None
    return [name.strip() for name in text.split(",") if name.strip()]


def _plain(name: str) -> str:
    """`First Name ` in a file is the column `first_name`."""
    return "_".join(name.replace("\ufeff", "").strip().lower().replace("-", " ").split())


class CellMap:
    """Reads the cells of rows under one header."""

    def __init__(
        self, layout: Layout, header: list[str] | None, mapping: dict[str, str] | None, *, is_whole: bool
    ) -> None:
        self._cells: list[tuple[Any, Column, Read]] = []
        taken: set[str] = set()
        for at, name in enumerate(header if header is not None else _names(layout, mapping)):
            wanted = (mapping or {}).get(name) if mapping is not None else _plain(name)
            column = layout.by_name.get(wanted or "")
            if column is not None and column.name not in taken:
                taken.add(column.name)
                read = cell_reader(column, of_sheet=header is not None)
                self._cells.append((at if header is not None else name, column, read))
        missing = [column for column in layout.columns if column.name not in taken]
        self._defaults = {column.key: column.default for column in missing if column.default is not None}
        if not self._cells:
            raise MappingFault("No column of the table has the name of a column of the file.")
        unfilled = [column.name for column in missing if column.required and column.default is None]
        if is_whole and unfilled:
            raise MappingFault(f"The file has nothing for {', '.join(unfilled)}, which is required.")

    def values(self, cells: Cells) -> tuple[dict[str, Any], Faults | None]:
        """The values of a new row by the keys of their columns."""
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

    def given(self, cells: Cells) -> dict[str, Any]:
        """The cells by the names of their columns."""
        if isinstance(cells, dict):
            return {column.name: cells[at] for at, column, _ in self._cells if at in cells}
        return {column.name: cells[at] for at, column, _ in self._cells if at < len(cells)}


def _names(layout: Layout, mapping: dict[str, str] | None) -> list[str]:
    """What the objects of a JSON file may call their values."""
    return list(mapping) if mapping is not None else list(layout.by_name)
