"""Alembic's entry point: runs on the connection it is given."""

from typing import Any, Literal

from alembic import context

from retinue.kit.db import types
from retinue.kit.db.models import metadata
from retinue.kit.db.word_index import WORD_INDEXES


def _render(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Our column types by their own names, so that a draft needs no repair."""
    if kind != "type":
        return False
    if isinstance(item, types.Json):
        return "types.Json()"
    if isinstance(item, types.SealedColumn):
        return "types.SealedColumn()"
    if item is types.Text:
        return "types.Text"
    return False


def _is_drafted(_object: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:
    """An index of words is written by hand: on SQLite, where drafts are made, it is several tables."""
    return kind != "table" or not (name or "").startswith(tuple(WORD_INDEXES))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_item=_render,
    include_object=_is_drafted,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
