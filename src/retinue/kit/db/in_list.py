"""`column IN (…)` for a list of any length in one prepared statement: the list is passed as JSON."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from retinue.kit.db.types import json_text


class _InList(sa.ColumnElement[bool]):
    inherit_cache = False
    type = sa.Boolean()

    def __init__(self, column: sa.ColumnElement[Any], name: str) -> None:
        self.column = column
        self.given = sa.bindparam(name, type_=sa.Text())

    def self_group(self, against: object = None) -> Any:  # noqa: ARG002
        """Keep SQLAlchemy from comparing the condition with 1 on SQLite, which would prevent index use."""
        return self

    def get_children(self, **_: Any) -> Any:
        return (self.column, self.given)


def in_list(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Return the condition that a text column is in the parameter `name`, made by `list_parameter`."""
    return _InList(column, name)


def list_parameter(values: Iterable[str]) -> str:
    """Return the value of a parameter of `in_list`."""
    return json_text(list(values))


# Also the default: the fence inspects a statement before its dialect is known.
@compiles(_InList)
def _for_sqlite(element: _InList, compiler: SQLCompiler, **options: Any) -> str:
    column, given = compiler.process(element.column, **options), compiler.process(element.given, **options)
    return f"{column} IN (SELECT value FROM json_each({given}))"  # noqa: S608  a column and a placeholder


@compiles(_InList, "postgresql")
def _for_postgresql(element: _InList, compiler: SQLCompiler, **options: Any) -> str:
    column, given = compiler.process(element.column, **options), compiler.process(element.given, **options)
    return f"{column} = ANY(ARRAY(SELECT jsonb_array_elements_text(CAST({given} AS jsonb))))"
