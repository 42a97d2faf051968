"""Drafts of agents, and suspended turns that keep the configuration they were asked with."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agent_drafts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("based_on", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", types.Json(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("updated_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_agent_drafts_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_agent_drafts")),
        sa.UniqueConstraint("tenant_id", "agent_id", name=op.f("uq_agent_drafts_tenant_id_agent_id")),
    )
    op.add_column("paused_turns", sa.Column("pinned", types.Json(), nullable=True))
