"""What runs of workflows descend from, counted for every root; and which process holds an idempotency key."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("jobs", "event_log"):
        op.add_column(table, sa.Column("lineage", types.Text, server_default=sa.text("''"), nullable=False))
    op.add_column("workflow_executions", sa.Column("root_id", types.Text, nullable=True))
    op.add_column(
        "workflow_executions",
        sa.Column("lent", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )
    op.add_column(
        "idempotency_keys",
        sa.Column("claimed_by", types.Text, server_default=sa.text("''"), nullable=False),
    )
    op.create_index(
        "ix_workflow_executions_descendants",
        "workflow_executions",
        ["tenant_id", "root_id", "started_at"],
        sqlite_where=sa.text("root_id IS NOT NULL"),
        postgresql_where=sa.text("root_id IS NOT NULL"),
    )
    op.create_table(
        "workflow_chains",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("run_count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_chains")),
    )
    op.create_index(op.f("ix_workflow_chains_updated_at"), "workflow_chains", ["updated_at"])
