"""The trails of replies and executions become lists of tagged steps instead of letters and signs."""

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

BATCH_SIZE = 500
_ENTRY_KINDS = {"+": "started", "=": "finished", "?": "approval_requested"}


def upgrade() -> None:
    _convert("messages", _tag_reply_trail)
    _convert("workflow_executions", _tag_execution_trail)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE workflow_executions ALTER COLUMN trail TYPE jsonb USING trail::jsonb")


def _tag_reply_trail(stored: str) -> str:
    return json.dumps([_tag_reply_step(step) for step in json.loads(stored)], separators=(",", ":"))


def _tag_reply_step(step: int | str) -> list[Any]:
    """Convert `12`, `bID` and `BID`, `d` and `D`, `aID` and `s`; upper case is a call of a sub-agent."""
    if isinstance(step, int):
        return ["text", step]
    mark, id = step[0], step[1:]
    if mark in "bB":
        return ["call_started", id, mark == "B"]
    if mark == "a":
        return ["approval", id]
    if mark == "s":
        return ["suspended"]
    return ["call_finished", mark == "D"]


def _tag_execution_trail(stored: str) -> str:
    """Convert `+n1 =n1 ?n2`."""
    return json.dumps(
        [[_ENTRY_KINDS[entry[0]], entry[1:]] for entry in stored.split()], separators=(",", ":")
    )


def _convert(name: str, convert: Callable[[str], str]) -> None:
    """Rewrite the column `trail` of a table in the order of its primary key, a batch at a time."""
    connection = op.get_bind()
    table = sa.table(name, sa.column("id"), sa.column("tenant_id"), sa.column("trail"))
    key = sa.tuple_(table.c.id, table.c.tenant_id)
    page = (
        sa.select(table.c.id, table.c.tenant_id, sa.cast(table.c.trail, sa.Text))
        .where(table.c.trail.is_not(None))
        .order_by(table.c.id, table.c.tenant_id)
        .limit(BATCH_SIZE)
    )
    column_type = _trail_type(name)
    store = (
        sa.update(table)
        .where(table.c.id == sa.bindparam("row_id"), table.c.tenant_id == sa.bindparam("row_tenant_id"))
        .values(trail=sa.cast(sa.bindparam("new_trail", type_=sa.Text()), column_type))
    )
    rows = connection.execute(page).all()
    while rows:
        connection.execute(
            store,
            [
                {"row_id": id, "row_tenant_id": tenant_id, "new_trail": convert(stored)}
                for id, tenant_id, stored in rows
            ],
        )
        last = sa.tuple_(sa.literal(rows[-1][0]), sa.literal(rows[-1][1]))
        rows = connection.execute(page.where(key > last)).all()


def _trail_type(name: str) -> Any:
    """Return the type of the column as it is now: executions stored text, which becomes JSON afterwards."""
    is_json = op.get_bind().dialect.name == "postgresql" and name == "messages"
    return postgresql.JSONB() if is_json else sa.Text()
