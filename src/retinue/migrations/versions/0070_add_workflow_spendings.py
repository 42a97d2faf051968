"""Add what the nodes of workflows spent on models, and what editors keep about workflows."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None
# A server of the version before cannot read the lineage of jobs that this one enqueues.
is_safe_beside_previous = False


def upgrade() -> None:
    op.create_table(
        "workflow_spendings",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("execution_id", types.Text, nullable=False),
        sa.Column("node_id", types.Text, nullable=False),
        sa.Column("item", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_spendings")),
    )
    op.create_index(
        op.f("ix_workflow_spendings_created_at"), "workflow_spendings", ["created_at"], unique=False
    )
    op.create_index(
        op.f("ix_workflow_spendings_tenant_id_execution_id_node_id"),
        "workflow_spendings",
        ["tenant_id", "execution_id", "node_id"],
        unique=False,
    )
    op.add_column(
        "paused_turns", sa.Column("lineage", types.Text, server_default=sa.text("('')"), nullable=False)
    )
    op.add_column(
        "workflow_executions",
        sa.Column("awaited_by", types.Text, server_default=sa.text("('')"), nullable=False),
    )
    for table in ("workflows", "workflow_versions"):
        op.add_column(table, sa.Column("ui", types.Json(), server_default=sa.text("'{}'"), nullable=False))
