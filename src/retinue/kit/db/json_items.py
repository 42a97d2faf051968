"""Fields of JSON columns, and the objects of a JSON array column as rows, on both databases."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _Items(FunctionElement[Any]):
    name = "json_items"
    inherit_cache = True


class _Field(FunctionElement[str]):
    name = "json_field"
    type = sa.Text()
    inherit_cache = True


def json_items(column: sa.ColumnElement[Any]) -> sa.TableValuedAlias:
    """Return a row for each object in the array of each row; name it in `select_from` beside the table."""
    return _Items(column).table_valued("value", joins_implicitly=True)


def json_field(items: sa.TableValuedAlias, name: str) -> sa.ColumnElement[Any]:
    """Return a field of the object as text; null if it is null or missing."""
    return _Field(items.c.value, sa.literal(name, sa.Text()))


def json_value(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[str]:
    """Return a field of the object that a JSON column holds, as text; null if it is null or missing."""
    return _Field(column, sa.literal(name, sa.Text()))


# Also the default: the fence inspects a statement before its dialect is known.
@compiles(_Items)
def _items_for_sqlite(element: _Items, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Items, "postgresql")
def _items_for_postgresql(element: _Items, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements({compiler.process(element.clauses, **options)})"


@compiles(_Field)
def _field_for_sqlite(element: _Field, compiler: SQLCompiler, **options: Any) -> str:
    value, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_extract({value}, '$.' || {name})"


@compiles(_Field, "postgresql")
def _field_for_postgresql(element: _Field, compiler: SQLCompiler, **options: Any) -> str:
    value, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({value} ->> {name})"
