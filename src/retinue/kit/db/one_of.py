"""`column IN (…)` for a list of any length in one prepared statement: it travels as JSON."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from retinue.kit.db.types import json_text


class _OneOf(sa.ColumnElement[bool]):
    inherit_cache = False
    type = sa.Boolean()

    def __init__(self, column: sa.ColumnElement[Any], name: str) -> None:
        self.column = column
        self.given = sa.bindparam(name, type_=sa.Text())

    def self_group(self, against: Any = None) -> Any:  # noqa: ARG002
        """Without this, SQLAlchemy compares the condition with 1 on SQLite, and no index is used for it."""
        return self

    def get_children(self, **_: Any) -> Any:
        return (self.column, self.given)


def one_of(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether a text column is one of `name`, a parameter whose value is `listed(…)`."""
    return _OneOf(column, name)


def listed(values: Iterable[str]) -> str:
    """The value of a parameter of `one_of`."""
    return json_text(list(values))


# The fence looks at a statement before it knows the database.
@compiles(_OneOf)
def _for_sqlite(element: _OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, given = compiler.process(element.column, **how), compiler.process(element.given, **how)
    return f"{column} IN (SELECT value FROM json_each({given}))"  # noqa: S608  a column and a placeholder


@compiles(_OneOf, "postgresql")
def _for_postgresql(element: _OneOf, compiler: SQLCompiler, **how: Any) -> str:
    column, given = compiler.process(element.column, **how), compiler.process(element.given, **how)
    return f"{column} = ANY(ARRAY(SELECT jsonb_array_elements_text(CAST({given} AS jsonb))))"
