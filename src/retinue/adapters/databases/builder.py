"""Statements from `{ operation, table, where, values }`: quoted names, bound values, then the same check."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.guard import check
from retinue.adapters.databases.query import Query

_OPERATORS = {
    "eq": "=",
    "=": "=",
    "ne": "<>",
    "!=": "<>",
    "<>": "<>",
    "lt": "<",
    "<": "<",
    "lte": "<=",
    "<=": "<=",
    "gt": ">",
    ">": ">",
    "gte": ">=",
    ">=": ">=",
    "like": "LIKE",
    "in": "IN",
    "not_in": "NOT IN",
    "is_null": "IS NULL",
}


class _Writer:
    """Collects values while a statement is written around them."""

    def __init__(self, db_type: DbType) -> None:
        self._quote = '"' if db_type == "postgresql" else "`"
        self.values: list[Any] = []

    def name(self, name: Any) -> str:
        if not isinstance(name, str) or not name:
            raise QueryNotAllowed("A table or column must be given by its name.")
        return f"{self._quote}{name.replace(self._quote, self._quote * 2)}{self._quote}"

    def table(self, table: Any) -> str:
        """The name of a table, with its schema before a dot."""
        parts = table.split(".") if isinstance(table, str) else [table]
        return ".".join(self.name(part) for part in parts)

    def value(self, value: Any) -> str:
        self.values.append(value)
        return f"${len(self.values)}"

    def where(self, where: Mapping[str, Any]) -> str:
        conditions = [
            self.condition(column, operator, operand)
            for column, wanted in where.items()
            for operator, operand in _comparisons(wanted)
        ]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def condition(self, column: str, operator: str, operand: Any) -> str:
        written = _OPERATORS.get(str(operator).lower().replace(" ", "_"))
        if written is None:
            raise QueryNotAllowed(f"A condition may use {', '.join(_OPERATORS)}.")
        name = self.name(column)
        if written == "IS NULL":
            return f"{name} IS NULL" if operand else f"{name} IS NOT NULL"
        if operand is None and written in {"=", "<>"}:
            return f"{name} IS NULL" if written == "=" else f"{name} IS NOT NULL"
        if written in {"IN", "NOT IN"}:
            return self._membership(name, written, operand)
        return f"{name} {written} {self.value(operand)}"

    def _membership(self, name: str, written: str, operand: Any) -> str:
        if not isinstance(operand, list):
            raise QueryNotAllowed("The operators in and not_in need a list.")
        if not operand and written == "NOT IN":
            raise QueryNotAllowed("The list of a not_in is empty, which would mean every row.")
        if not operand:
            return "1 = 0"
        return f"{name} {written} ({', '.join(self.value(item) for item in operand)})"


def build(
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str,
    table: Any,
    where: Any = None,
    values: Any = None,
) -> Query:
    """`where` and `values` are objects by column; `values` of an insert may be a list of them."""
    writer = _Writer(db_type)
    conditions = _object(where, "where")
    match operation:
        case "select":
            sql = f"SELECT * FROM {writer.table(table)}{writer.where(conditions)}"  # noqa: S608 - quoted and checked
        case "insert":
            sql = _insert(writer, table, values)
        case "update" | "delete" if not conditions:
            raise QueryNotAllowed("An update or delete needs a where.")
        case "update":
            changes = [
                f"{writer.name(key)} = {writer.value(value)}" for key, value in _values(values).items()
            ]
            sql = f"UPDATE {writer.table(table)} SET {', '.join(changes)}{writer.where(conditions)}"  # noqa: S608 - as above
        case "delete":
            sql = f"DELETE FROM {writer.table(table)}{writer.where(conditions)}"  # noqa: S608 - as above
        case _:
            raise QueryNotAllowed("The operation must be select, insert, update or delete.")
    return check(sql, writer.values, db_type=db_type, allowed=allowed, operation=operation)


def _insert(writer: _Writer, table: Any, values: Any) -> str:
    rows = [_values(row) for row in (values if isinstance(values, list) and values else [values])]
    columns = list(rows[0])
    if any(set(row) != set(columns) for row in rows):
        raise QueryNotAllowed("The rows of an insert must have the same columns.")
    names = ", ".join(writer.name(column) for column in columns)
    written = ", ".join(f"({', '.join(writer.value(row[column]) for column in columns)})" for row in rows)
    return f"INSERT INTO {writer.table(table)} ({names}) VALUES {written}"  # noqa: S608 - quoted and checked


def _comparisons(wanted: Any) -> Iterable[tuple[str, Any]]:
    if wanted == {}:
        raise QueryNotAllowed("A condition needs an operator, or a value to equal.")
    if isinstance(wanted, Mapping):
        return wanted.items()
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return [("in", list(wanted))]
    return [("eq", wanted)]


def _object(given: Any, name: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise QueryNotAllowed(f"The {name} must be an object.")
    return given


def _values(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise QueryNotAllowed("The values must be an object with at least one column.")
    return given
