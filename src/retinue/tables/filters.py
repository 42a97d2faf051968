"""Filters on rows: JSON from the caller becomes a validated condition with parameters.

A condition is a tree of tuples without the values, so that statements of the same shape are compiled once:
`("and", …)`, `("or", …)`, or an operator with a field and its parameter names.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.db.text_match import contains_text, contains_text_parameters
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import read_instant
from retinue.tables.models import Column, ColumnType, rows
from retinue.tables.storage import Layout
from retinue.tables.values import NUMERIC_TYPES, TEXT_TYPES, BadValue, cell_reader, slot_value, value_reader

Field = tuple[str, str, str]
"""The location of a value (`slot`, `json` or `own`), its name there, and its kind."""
Shape = tuple[Any, ...]

MAX_CONDITIONS = 50
MAX_ALTERNATIVES = 200
MAX_FILTER_DEPTH = 5

_COMPARISONS = {"eq", "ne", "gt", "gte", "lt", "lte"}
OPERATORS = (*sorted(_COMPARISONS), "contains", "exists")
WHERE_NAME = re.compile(r"where\[([a-z0-9_]+)\]")


class Condition(msgspec.Struct):
    """The condition rows must meet; an empty shape matches all."""

    shape: Shape = ()
    parameters: JsonObject = {}

    @property
    def matches_all(self) -> bool:
        """Whether all rows match, also for nested empty groups."""
        return _matches_all(self.shape)

    @property
    def is_indexed(self) -> bool:
        """Whether an index finds the rows, because one of the conditions that must all hold has one."""
        parts = self.shape[1:] if self.shape[:1] == ("and",) else (self.shape,)
        return any(
            len(part) > 1 and (part[1][0] == "slot" or part[1][1] == "id")
            for part in parts
            if part and part[0] in {"eq", "in", "gt", "gte", "lt", "lte"}
        )


def _matches_all(shape: Shape) -> bool:
    if shape[:1] == ("or",):
        return any(_matches_all(part) for part in shape[1:])
    return not shape or (shape[0] == "and" and all(_matches_all(part) for part in shape[1:]))


def field_of(column: Column) -> Field:
    kind = "text"
    if column.type in NUMERIC_TYPES:
        kind = "boolean" if column.type is ColumnType.boolean else "number"
    elif column.type not in TEXT_TYPES:
        kind = "list" if column.type is ColumnType.multi_select else "json"
    return ("slot", column.slot, kind) if column.slot else ("json", column.key, kind)


def system_field(name: str) -> Field:
    return ("own", name, "text")


class FilterBuilder:
    """Collects the conditions of one query."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._parts: list[Shape] = []
        self._parameters: JsonObject = {}
        self._count = 0

    def condition(self) -> Condition:
        shape: Shape = ("and", *self._parts) if len(self._parts) != 1 else self._parts[0]
        return Condition(shape, self._parameters)

    def add_filter(self, raw: object, field: str = "filter") -> None:
        """Add a filter or a list of filters; errors are reported under `field`."""
        shape = self._group("and", raw, field, 0) if isinstance(raw, list) else self._all_of(raw, field, 0)
        if shape:
            self._parts.append(shape)

    def add_filter_text(self, text: str) -> None:
        try:
            given = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            raise Invalid({"filter": "must be JSON"}) from None
        self.add_filter(given)

    def add_where(self, pairs: list[tuple[str, str]]) -> None:
        """Add `where[column]=value` conditions; the value is parsed like a cell of a file."""
        for name, text in pairs:
            match = WHERE_NAME.fullmatch(name)
            if match is None:
                continue
            column = self._layout.by_name.get(match[1])
            if column is None:
                self._parts.append(self._system_condition(match[1], text, name))
                continue
            try:
                value = cell_reader(column, of_sheet=False)(text)
            except BadValue as error:
                raise Invalid({name: str(error)}) from None
            self._parts.append(self._column_condition(column, "eq", value, name, is_read=True))

    def add_search(self, text: str) -> None:
        fields = tuple(
            field_of(column)
            for column in self._layout.columns
            if column.type in TEXT_TYPES or column.type is ColumnType.multi_select
        )
        self._parts.append(("search", fields, self._bind_contained(text)))

    def _bind_contained(self, text: str) -> str:
        name = f"v{len(self._parameters)}"
        self._parameters |= contains_text_parameters(name, text)
        return name

    def _bind(self, value: Any) -> str:
        name = f"v{len(self._parameters)}"
        self._parameters[name] = value
        return name

    def _all_of(self, raw: object, path: str, depth: int) -> Shape:
        if not isinstance(raw, dict):
            raise Invalid({path: "must be an object of column names and comparisons"})
        if depth > MAX_FILTER_DEPTH:
            raise Invalid({path: f"must be nested at most {MAX_FILTER_DEPTH} levels deep"})
        parts = []
        for name, comparison in raw.items():
            here = f"{path}.{name}"
            parts.append(
                self._group(name, comparison, here, depth)
                if name in {"and", "or"}
                else self._column(name, comparison, here)
            )
        return ("and", *parts) if len(parts) != 1 else parts[0]

    def _group(self, name: str, filters: object, path: str, depth: int) -> Shape:
        if not isinstance(filters, list) or not 0 < len(filters) <= MAX_CONDITIONS:
            raise Invalid({path: f"must be a list of 1 to {MAX_CONDITIONS} filters"})
        parts = [self._all_of(item, f"{path}.{at}", depth + 1) for at, item in enumerate(filters)]
        return (name, *parts)

    def _column(self, name: str, comparison: object, path: str) -> Shape:
        bare = name.removeprefix("data.")
        column = self._layout.by_name.get(bare)
        operators = (
            comparison
            if isinstance(comparison, dict)
            else {"in" if isinstance(comparison, list) else "eq": comparison}
        )
        if not operators:
            raise Invalid({path: f"must have one of {', '.join(OPERATORS)}"})
        self._count += len(operators)
        if self._count > MAX_CONDITIONS:
            raise Invalid({path: f"a filter has at most {MAX_CONDITIONS} conditions"})
        parts = []
        for operator, value in operators.items():
            if operator not in OPERATORS and not (operator == "in" and operators is not comparison):
                raise Invalid({f"{path}.{operator}": f"must be one of {', '.join(OPERATORS)}"})
            here = f"{path}.{operator}" if operators is comparison else path
            parts.append(
                self._system_condition(bare, value, here, operator)
                if column is None
                else self._column_condition(column, operator, value, here)
            )
        return ("and", *parts) if len(parts) > 1 else parts[0]

    def _system_condition(self, name: str, value: object, path: str, operator: str = "eq") -> Shape:
        """Return a condition on `id`, `created_at` or `updated_at`."""
        if name not in {"id", "created_at", "updated_at"}:
            raise Invalid({path: "there is no such column"})
        if operator not in {*_COMPARISONS, "in"}:
            raise Invalid({path: f"{name} supports comparisons only"})

        def read(item: Any) -> str:
            if not isinstance(item, str):
                raise Invalid({path: "must be text"})
            return item if name == "id" else read_instant(path, item.replace(" ", "+"))

        return self._operation(operator, system_field(name), value, read, path)

    def _column_condition(
        self, column: Column, operator: str, value: object, path: str, *, is_read: bool = False
    ) -> Shape:
        field = field_of(column)
        if operator == "exists":
            if value.__class__ is not bool:
                raise Invalid({path: "must be true or false"})
            return ("filled" if value else "null", field)
        if operator == "contains":
            return self._contains(field, value, path)
        if value is None and operator in {"eq", "ne"}:
            return ("null" if operator == "eq" else "filled", field)
        if field[2] in {"list", "json"}:
            raise Invalid({path: f"a {column.type} column supports only contains and exists"})

        def read(item: Any) -> Any:
            try:
                return slot_value(column, item if is_read else comparison_reader(column)(item))
            except BadValue as error:
                raise Invalid({path: str(error)}) from None

        return self._operation(operator, field, value, read, path)

    def _operation(
        self, operator: str, field: Field, value: Any, read: Callable[[Any], Any], path: str
    ) -> Shape:
        if operator != "in":
            return (operator, field, self._bind(read(value)))
        if len(value) > MAX_ALTERNATIVES:
            raise Invalid({path: f"must have at most {MAX_ALTERNATIVES} values"})
        names = tuple(self._bind(read(item)) for item in value if item is not None)
        condition: Shape = ("in", field, *names)
        return ("or", condition, ("null", field)) if len(names) < len(value) else condition

    def _contains(self, field: Field, value: object, path: str) -> Shape:
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            raise Invalid({path: "must be text of 1 to 200 characters"})
        if field[2] == "list":
            return ("has", field, self._bind(value), self._bind(msgspec.json.encode(value).decode()))
        if field[2] in {"number", "boolean"}:
            raise Invalid({path: "is not supported for numbers; use a comparison"})
        return ("search", (field,), self._bind_contained(value))


def comparison_reader(column: Column) -> Callable[[Any], Any]:
    """Return a reader that accepts any text, for example former options of a select."""
    if column.type in {ColumnType.select, ColumnType.text, ColumnType.url, ColumnType.email}:
        return _require_text
    return value_reader(column)


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValue("must be text")
    return value


def field_expression(dialect: str, field: Field) -> Any:
    """Return the SQL expression of a field: text, or a double for numbers and booleans."""
    path, name, kind = field
    if path != "json":
        return rows.c[name]
    data = sa.type_coerce(rows.c.data, sa.Text())
    if dialect == "sqlite":
        extracted = sa.func.json_extract(data, f'$."{name}"', type_=sa.Text())
        return sa.type_coerce(extracted, sa.Double()) if kind in {"number", "boolean"} else extracted
    extracted_text = rows.c.data.op("->>", return_type=sa.Text())(sa.literal(name, sa.Text()))
    if kind == "number":
        return sa.cast(extracted_text, sa.Double())
    if kind == "boolean":
        return sa.cast(sa.cast(sa.cast(extracted_text, sa.Boolean()), sa.Integer()), sa.Double())
    return extracted_text.collate("C")


def to_sql(dialect: str, shape: Shape) -> Any:
    """Return the condition as SQLAlchemy expression; its parameters are bound by name."""
    operator, *rest = shape
    if operator in {"and", "or"}:
        parts = [to_sql(dialect, part) for part in rest]
        return (sa.and_ if operator == "and" else sa.or_)(*parts) if parts else sa.true()
    if operator == "search":
        fields, name = rest
        parts = [contains_text(field_expression(dialect, field), name) for field in fields]
        return sa.or_(sa.false(), *parts)
    field, *names = rest
    column = field_expression(dialect, field)
    if operator == "beyond":
        return _beyond(column, field[2], *names)
    values = [_parameter(name, field[2]) for name in names]
    return _CONDITIONS[operator](dialect, field, column, values)


def _beyond(column: Any, kind: str, name: str, id_name: str, descending: bool) -> Any:
    """Return the condition for rows after a value and, among equal values, after an id."""
    place = sa.tuple_(column, rows.c.id)
    edge = sa.tuple_(_parameter(name, kind), _parameter(id_name, "text"))
    return place < edge if descending else place > edge


def _parameter(name: str, kind: str) -> Any:
    return sa.bindparam(name, type_=sa.Double() if kind in {"number", "boolean"} else sa.Text())


def _has(dialect: str, field: Field, column: object, values: list[Any]) -> Any:
    """Return whether a list contains a choice. In JSON text it follows the bracket or a comma."""
    plain, quoted = values
    if dialect == "postgresql":
        inside = sa.func.jsonb_extract_path(rows.c.data, sa.literal(field[1], sa.Text()))
        return sa.func.jsonb_exists(inside, plain)
    first = sa.func.instr(column, sa.literal("[", sa.Text()).concat(quoted)) > 0
    return sa.or_(first, sa.func.instr(column, sa.literal(",", sa.Text()).concat(quoted)) > 0)


_CONDITIONS: dict[str, Callable[[str, Field, Any, list[Any]], Any]] = {
    "eq": lambda _d, _f, column, values: column == values[0],
    "ne": lambda _d, _f, column, values: sa.or_(column.is_(None), column != values[0]),
    "gt": lambda _d, _f, column, values: column > values[0],
    "gte": lambda _d, _f, column, values: column >= values[0],
    "lt": lambda _d, _f, column, values: column < values[0],
    "lte": lambda _d, _f, column, values: column <= values[0],
    "in": lambda _d, _f, column, values: column.in_(values) if values else sa.false(),
    "null": lambda _d, _f, column, _v: column.is_(None),
    "filled": lambda _d, _f, column, _v: column.is_not(None),
    "has": _has,
}
