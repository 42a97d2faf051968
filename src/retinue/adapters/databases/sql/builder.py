"""Builds statements from `{ operation, table, where, values }` with quoted names and bound values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.sql.query import Query

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
    """Writes the parts of a statement and collects its values."""

    def __init__(self, db_type: DbType) -> None:
        self._quote = '"' if db_type == "postgresql" else "`"
        self.values: list[Any] = []

    def name(self, name: Any) -> str:
        if not isinstance(name, str) or not name:
            raise QueryNotAllowed("A table or column name must be a non-empty string.")
        return f"{self._quote}{name.replace(self._quote, self._quote * 2)}{self._quote}"

    def table(self, table: Any) -> str:
        """Return the quoted name of a table, which may have a schema before a dot."""
        parts = table.split(".") if isinstance(table, str) else [table]
        return ".".join(self.name(part) for part in parts)

    def value(self, value: Any) -> str:
        self.values.append(value)
        return f"${len(self.values)}"

    def where(self, where: Mapping[str, Any]) -> str:
        conditions = [
            self.condition(column, operator, operand)
            for column, condition in where.items()
            for operator, operand in _comparisons(condition)
        ]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def condition(self, column: str, operator: str, operand: Any) -> str:
        sql_operator = _OPERATORS.get(str(operator).lower().replace(" ", "_"))
        if sql_operator is None:
            raise QueryNotAllowed(f"The operator of a condition must be one of {', '.join(_OPERATORS)}.")
        name = self.name(column)
        if sql_operator == "IS NULL":
            return f"{name} IS NULL" if operand else f"{name} IS NOT NULL"
        if operand is None and sql_operator in {"=", "<>"}:
            return f"{name} IS NULL" if sql_operator == "=" else f"{name} IS NOT NULL"
        if sql_operator in {"IN", "NOT IN"}:
            return self._membership(name, sql_operator, operand)
        return f"{name} {sql_operator} {self.value(operand)}"

    def _membership(self, name: str, sql_operator: str, operand: object) -> str:
        if not isinstance(operand, list):
            raise QueryNotAllowed("The operators in and not_in require a list.")
        if not operand and sql_operator == "NOT IN":
            raise QueryNotAllowed("The list of not_in must not be empty, because that would match every row.")
        if not operand:
            return "1 = 0"
        return f"{name} {sql_operator} ({', '.join(self.value(item) for item in operand)})"


def build(
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str,
    table: object,
    where: object = None,
    values: object = None,
) -> Query:
    """Build a statement and check it like a handwritten one.

    `where` and `values` are objects by column; an insert accepts a list of them.
    """
    # Loaded here, because the parser takes long to import.
    from retinue.adapters.databases.sql.guard import check

    writer = _Writer(db_type)
    conditions = _require_object(where, "where")
    match operation:
        case "select":
            sql = f"SELECT * FROM {writer.table(table)}{writer.where(conditions)}"  # noqa: S608 - quoted and checked
        case "insert":
            sql = _insert(writer, table, values)
        case "update" | "delete" if not conditions:
            raise QueryNotAllowed("An update or delete requires a where.")
        case "update":
            changes = [
                f"{writer.name(key)} = {writer.value(value)}"
                for key, value in _require_values(values).items()
            ]
            sql = f"UPDATE {writer.table(table)} SET {', '.join(changes)}{writer.where(conditions)}"  # noqa: S608 - as above
        case "delete":
            sql = f"DELETE FROM {writer.table(table)}{writer.where(conditions)}"  # noqa: S608 - as above
        case _:
            raise QueryNotAllowed("The operation must be select, insert, update or delete.")
    return check(sql, writer.values, db_type=db_type, allowed=allowed, operation=operation)


def _insert(writer: _Writer, table: object, values: object) -> str:
    rows = [_require_values(row) for row in (values if isinstance(values, list) and values else [values])]
    columns = list(rows[0])
    if any(set(row) != set(columns) for row in rows):
        raise QueryNotAllowed("The rows of an insert must have the same columns.")
    names = ", ".join(writer.name(column) for column in columns)
    row_texts = ", ".join(f"({', '.join(writer.value(row[column]) for column in columns)})" for row in rows)
    return f"INSERT INTO {writer.table(table)} ({names}) VALUES {row_texts}"  # noqa: S608 - quoted and checked


def _comparisons(condition: object) -> Iterable[tuple[str, Any]]:
    if condition == {}:
        raise QueryNotAllowed("A condition must be a value, or an object with an operator.")
    if isinstance(condition, Mapping):
        return condition.items()
    if isinstance(condition, Sequence) and not isinstance(condition, str):
        return [("in", list(condition))]
    return [("eq", condition)]


def _require_object(value: object, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise QueryNotAllowed(f"The {name} must be an object.")
    return value


def _require_values(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise QueryNotAllowed("The values must be an object with at least one column.")
    return value
