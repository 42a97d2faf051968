"""Filters on rows: JSON from the caller, checked against the columns, becomes a condition with parameters.

A condition is a tree of tuples that says everything but the values, so that statements of the same shape are
compiled once: `("and", …)`, `("or", …)`, or an operator with a field and the names of its parameters.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.errors import Invalid
from retinue.kit.lists import escape_like
from retinue.kit.validation import read_instant
from retinue.tables.models import Column, ColumnType, rows
from retinue.tables.storage import Layout
from retinue.tables.values import NUMBERS, TEXTS, BadValue, cell_reader, reader, slot_value

Field = tuple[str, str, str]
"""Where a value is (`slot`, `json` or `own`), under which name, and of which kind it is."""
Shape = tuple[Any, ...]

MOST_CONDITIONS = 50
MOST_ALTERNATIVES = 200
DEEPEST = 5

_COMPARED = {"eq", "ne", "gt", "gte", "lt", "lte"}
OPERATORS = (*sorted(_COMPARED), "contains", "exists")
_WHERE = re.compile(r"where\[([a-z0-9_]+)\]")


class Condition(msgspec.Struct):
    """What rows must be like: nothing at all where the shape is empty."""

    shape: Shape = ()
    parameters: dict[str, Any] = {}

    @property
    def holds_for_all(self) -> bool:
        """Whether it says nothing, however many brackets it does so in."""
        return _holds_for_all(self.shape)

    @property
    def is_indexed(self) -> bool:
        """Whether an index leads to the rows, because one of the conditions that must all hold has one."""
        parts = self.shape[1:] if self.shape[:1] == ("and",) else (self.shape,)
        return any(
            len(part) > 1 and (part[1][0] == "slot" or part[1][1] == "id")
            for part in parts
            if part and part[0] in {"eq", "in", "gt", "gte", "lt", "lte"}
        )


def _holds_for_all(shape: Shape) -> bool:
    if shape[:1] == ("or",):
        return any(_holds_for_all(part) for part in shape[1:])
    return not shape or (shape[0] == "and" and all(_holds_for_all(part) for part in shape[1:]))


def field_of(column: Column) -> Field:
    kind = "text"
    if column.type in NUMBERS:
        kind = "boolean" if column.type is ColumnType.boolean else "number"
    elif column.type not in TEXTS:
        kind = "list" if column.type is ColumnType.multi_select else "json"
    return ("slot", column.slot, kind) if column.slot else ("json", column.key, kind)


def own_field(name: str) -> Field:
    return ("own", name, "text")


class Filtering:
    """Gathers the conditions of one question."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._parts: list[Shape] = []
        self._parameters: dict[str, Any] = {}
        self._count = 0

    def condition(self) -> Condition:
        shape: Shape = ("and", *self._parts) if len(self._parts) != 1 else self._parts[0]
        return Condition(shape, self._parameters)

    def add_filter(self, given: Any, field: str = "filter") -> None:
        """A filter of the grammar, or a list of them; what is wrong is said under the name of the field."""
        shape = (
            self._group("and", given, field, 0) if isinstance(given, list) else self._all_of(given, field, 0)
        )
        if shape:
            self._parts.append(shape)

    def add_filter_text(self, text: str) -> None:
        try:
            given = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            raise Invalid({"filter": "must be JSON"}) from None
        self.add_filter(given)

    def add_where(self, pairs: list[tuple[str, str]]) -> None:
        """`where[column]=value`: equal, read as a cell of a file is read."""
        for name, text in pairs:
            found = _WHERE.fullmatch(name)
            if found is None:
                continue
            column = self._layout.by_name.get(found[1])
            if column is None:
                self._parts.append(self._own(found[1], text, name))
                continue
            try:
                value = cell_reader(column, of_sheet=False)(text)
            except BadValue as error:
                raise Invalid({name: str(error)}) from None
            self._parts.append(self._compared(column, "eq", value, name, is_read=True))

    def add_equal(self, column: Column, value: Any) -> None:
        """A value as it is stored, or None for rows without one."""
        self._parts.append(self._compared(column, "eq", value, column.name, is_read=True))

    def add_search(self, text: str) -> None:
        fields = tuple(
            field_of(column)
            for column in self._layout.columns
            if column.type in TEXTS or column.type is ColumnType.multi_select
        )
        self._parts.append(("search", fields, self._bound(f"%{escape_like(text)}%")))

    def _bound(self, value: Any) -> str:
        name = f"v{len(self._parameters)}"
        self._parameters[name] = value
        return name

    def _all_of(self, given: Any, place: str, depth: int) -> Shape:
        if not isinstance(given, dict):
            raise Invalid({place: "must be an object of columns and what they are compared with"})
        if depth > DEEPEST:
            raise Invalid({place: f"is nested more than {DEEPEST} levels deep"})
        parts = []
        for name, wanted in given.items():
            here = f"{place}.{name}"
            parts.append(
                self._group(name, wanted, here, depth)
                if name in {"and", "or"}
                else self._column(name, wanted, here)
            )
        return ("and", *parts) if len(parts) != 1 else parts[0]

    def _group(self, name: str, wanted: Any, place: str, depth: int) -> Shape:
        if not isinstance(wanted, list) or not 0 < len(wanted) <= MOST_CONDITIONS:
            raise Invalid({place: f"must be a list of 1 to {MOST_CONDITIONS} filters"})
        parts = [self._all_of(one, f"{place}.{at}", depth + 1) for at, one in enumerate(wanted)]
        return (name, *parts)

    def _column(self, name: str, wanted: Any, place: str) -> Shape:
        bare = name.removeprefix("data.")
        column = self._layout.by_name.get(bare)
        operators = (
            wanted if isinstance(wanted, dict) else {"in" if isinstance(wanted, list) else "eq": wanted}
        )
        if not operators:
            raise Invalid({place: f"must have one of {', '.join(OPERATORS)}"})
        self._count += len(operators)
        if self._count > MOST_CONDITIONS:
            raise Invalid({place: f"there are more than {MOST_CONDITIONS} conditions"})
        parts = []
        for operator, value in operators.items():
            if operator not in OPERATORS and not (operator == "in" and operators is not wanted):
                raise Invalid({f"{place}.{operator}": f"must be one of {', '.join(OPERATORS)}"})
            here = f"{place}.{operator}" if operators is wanted else place
            parts.append(
                self._own(bare, value, here, operator)
                if column is None
                else self._compared(column, operator, value, here)
            )
        return ("and", *parts) if len(parts) > 1 else parts[0]

    def _own(self, name: str, value: Any, place: str, operator: str = "eq") -> Shape:
        """Conditions on `id`, `created_at` and `updated_at`."""
        if name not in {"id", "created_at", "updated_at"}:
            raise Invalid({place: "there is no such column"})
        if operator not in {*_COMPARED, "in"}:
            raise Invalid({place: f"{name} can only be compared"})

        def read(one: Any) -> str:
            if not isinstance(one, str):
                raise Invalid({place: "must be text"})
            return one if name == "id" else read_instant(place, one.replace(" ", "+"))

        return self._operation(operator, own_field(name), value, read, place)

    def _compared(
        self, column: Column, operator: str, value: Any, place: str, *, is_read: bool = False
    ) -> Shape:
        field = field_of(column)
        if operator == "exists":
            if value.__class__ is not bool:
                raise Invalid({place: "must be true or false"})
            return ("filled" if value else "null", field)
        if operator == "contains":
            return self._contains(field, value, place)
        if value is None and operator in {"eq", "ne"}:
            return ("null" if operator == "eq" else "filled", field)
        if field[2] in {"list", "json"}:
            raise Invalid({place: f"a {column.type} column can be asked for contains and exists only"})

        def read(one: Any) -> Any:
            try:
                return slot_value(column, one if is_read else lenient(column)(one))
            except BadValue as error:
                raise Invalid({place: str(error)}) from None

        return self._operation(operator, field, value, read, place)

    def _operation(
        self, operator: str, field: Field, value: Any, read: Callable[[Any], Any], place: str
    ) -> Shape:
        if operator != "in":
            return (operator, field, self._bound(read(value)))
        if len(value) > MOST_ALTERNATIVES:
            raise Invalid({place: f"must have at most {MOST_ALTERNATIVES} values"})
        names = tuple(self._bound(read(one)) for one in value if one is not None)
        found: Shape = ("in", field, *names)
        return ("or", found, ("null", field)) if len(names) < len(value) else found

    def _contains(self, field: Field, value: Any, place: str) -> Shape:
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            raise Invalid({place: "must be text of 1 to 200 characters"})
        if field[2] == "list":
            return ("has", field, self._bound(value), self._bound(msgspec.json.encode(value).decode()))
        if field[2] in {"number", "boolean"}:
            raise Invalid({place: "a number contains nothing; compare it"})
        return ("like", field, self._bound(f"%{escape_like(value)}%"))


def lenient(column: Column) -> Callable[[Any], Any]:
    """A select is compared with what it may once have been, and text however long."""
    if column.type in {ColumnType.select, ColumnType.text, ColumnType.url, ColumnType.email}:
        return _some_text
    return reader(column)


def _some_text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValue("must be text")
    return value


def expression(dialect: str, field: Field) -> Any:
    """The SQL of a field, of its kind: text or double."""
    place, name, kind = field
    if place != "json":
        return rows.c[name]
    data = sa.type_coerce(rows.c.data, sa.Text())
    if dialect == "sqlite":
        found = sa.func.json_extract(data, f'$."{name}"', type_=sa.Text())
        return sa.type_coerce(found, sa.Double()) if kind in {"number", "boolean"} else found
    written = rows.c.data.op("->>", return_type=sa.Text())(sa.literal(name, sa.Text()))
    if kind == "number":
        return sa.cast(written, sa.Double())
    if kind == "boolean":
        return sa.cast(sa.cast(sa.cast(written, sa.Boolean()), sa.Integer()), sa.Double())
    return written.collate("C")


def sql(dialect: str, shape: Shape) -> Any:
    """The condition as SQLAlchemy has it; its parameters are bound by name."""
    operator, *rest = shape
    if operator in {"and", "or"}:
        parts = [sql(dialect, part) for part in rest]
        return (sa.and_ if operator == "and" else sa.or_)(*parts) if parts else sa.true()
    if operator == "search":
        fields, name = rest
        parts = [expression(dialect, field).ilike(_parameter(name, "text"), escape="\\") for field in fields]
        return sa.or_(sa.false(), *parts)
    field, *names = rest
    found = expression(dialect, field)
    values = [_parameter(name, field[2]) for name in names]
    return _CONDITIONS[operator](dialect, field, found, values)


def _parameter(name: str, kind: str) -> Any:
    return sa.bindparam(name, type_=sa.Double() if kind in {"number", "boolean"} else sa.Text())


def _has(dialect: str, field: Field, found: Any, values: list[Any]) -> Any:
    """Whether a list has a choice: as JSON text, it stands behind the bracket or behind a comma."""
    plain, quoted = values
    if dialect == "postgresql":
        inside = sa.func.jsonb_extract_path(rows.c.data, sa.literal(field[1], sa.Text()))
        return sa.func.jsonb_exists(inside, plain)
    first = sa.func.instr(found, sa.literal("[", sa.Text()).concat(quoted)) > 0
    return sa.or_(first, sa.func.instr(found, sa.literal(",", sa.Text()).concat(quoted)) > 0)


_CONDITIONS: dict[str, Callable[[str, Field, Any, list[Any]], Any]] = {
    "eq": lambda _d, _f, found, values: found == values[0],
    "ne": lambda _d, _f, found, values: sa.or_(found.is_(None), found != values[0]),
    "gt": lambda _d, _f, found, values: found > values[0],
    "gte": lambda _d, _f, found, values: found >= values[0],
    "lt": lambda _d, _f, found, values: found < values[0],
    "lte": lambda _d, _f, found, values: found <= values[0],
    "in": lambda _d, _f, found, values: found.in_(values) if values else sa.false(),
    "null": lambda _d, _f, found, _v: found.is_(None),
    "filled": lambda _d, _f, found, _v: found.is_not(None),
    "like": lambda _d, _f, found, values: found.ilike(values[0], escape="\\"),
    "has": _has,
}
