"""The set-up by the first person, and what Home reads."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "instance_setup",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("token_hashes", types.Json(), nullable=False),
        sa.Column("closed_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance_setup")),
    )
    op.add_column("chat_logs", sa.Column("first_token_ms", sa.BigInteger(), nullable=True))
    _index(
        "chat_logs", "first_token_ms_present", "first_token_ms IS NOT NULL", "created_at", "first_token_ms"
    )
    _index("documents", "failed", "status = 'failed'", "updated_at")
    _index("workflow_executions", "failed", "status = 'failed'", "created_at")


def _index(table: str, name: str, condition: str, *columns: str) -> None:
    op.create_index(
        f"ix_{table}_{name}",
        table,
        ["tenant_id", *columns],
        unique=False,
        sqlite_where=sa.text(condition),
        postgresql_where=sa.text(condition),
    )
