"""Text that stands in a statement itself: planners use a partial index only if they can read the value."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles


class InlineText(sa.ColumnElement[str]):
    """A constant of our own code, compared in the condition of a partial index; never what somebody sent."""

    inherit_cache = False
    type = sa.Text()

    def __init__(self, value: str) -> None:
        if not value.isidentifier():
            raise ValueError(f"{value!r} is not a plain word")
        self.value = value


@compiles(InlineText)
def _render(element: InlineText, compiler: Any, **_: Any) -> str:  # noqa: ARG001  the signature of SQLAlchemy
    return f"'{element.value}'"
