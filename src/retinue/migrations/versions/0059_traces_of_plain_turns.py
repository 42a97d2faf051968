"""Traces of plain turns: their numbers in the log of the turn, in the place of a part of their own."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None
# A server of the previous version beside this one stores parts as before, and both kinds are read here. It
# does not show the traces of plain turns that this version has recorded until it is replaced.
is_safe_beside_previous = True

_BY_TIME = ["tenant_id", "created_at", "status", "first_token_ms"]


def upgrade() -> None:
    op.add_column("chat_logs", sa.Column("trace", types.Json(), nullable=True))
    op.add_column("chat_logs", sa.Column("trace_ns", sa.BigInteger(), nullable=True))
    op.drop_index(f"ix_chat_logs_{'_'.join(_BY_TIME)}", "chat_logs")
    by_time = [*_BY_TIME, "user_id", "trace_ns"]
    op.create_index("ix_chat_logs_tenant_id_created_at", "chat_logs", by_time, unique=False)
    condition = sa.text("trace_ns IS NOT NULL")
    op.create_index(
        "ix_chat_logs_trace_ns_present",
        "chat_logs",
        ["tenant_id", "correlation_id"],
        unique=False,
        sqlite_where=condition,
        postgresql_where=condition,
    )
