"""Hints for the planner of SQLite, which has no statistics."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Selective(FunctionElement[bool]):
    type = sa.Boolean()
    inherit_cache = True


@compiles(_Selective, "sqlite")
def _on_sqlite(element: Any, compiler: Any, **more: Any) -> str:
    return f"likelihood({compiler.process(element.clauses, **more)}, 0.0001)"


@compiles(_Selective)
def _elsewhere(element: Any, compiler: Any, **more: Any) -> str:
    return str(compiler.process(element.clauses, **more))


def selective(condition: Any) -> Any:
    """Return the condition, marked as one that few rows meet.

    SQLite takes an index with an equal column before one with a range, so it reads a whole tenant where a
    range of ids would find a handful of rows.
    """
    return _Selective(condition)
