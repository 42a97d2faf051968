"""Context limits of agents, and what is left out of the prompts of long conversations."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agents", sa.Column("max_context_tokens", sa.BigInteger(), nullable=True))
    op.add_column("agents", sa.Column("compaction_model", types.Text, nullable=True))
    op.add_column("conversations", sa.Column("summary_id", types.Text, nullable=True))
    op.create_table(
        "conversation_summaries",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("key", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("up_to_position", sa.BigInteger(), nullable=False),
        sa.Column("results_up_to", sa.BigInteger(), nullable=False),
        sa.Column("attachments_up_to", sa.BigInteger(), nullable=False),
        sa.Column("made_at_position", sa.BigInteger(), nullable=False),
        sa.Column("text", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("usage", types.Json(), nullable=True),
        sa.Column("documents", types.Json(), nullable=True),
        sa.Column("report", types.Json(), nullable=True),
        sa.Column("lease_expires_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_conversation_summaries_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_summaries")),
        sa.UniqueConstraint("tenant_id", "key", name=op.f("uq_conversation_summaries_tenant_id_key")),
    )
    op.create_index(
        op.f("ix_conversation_summaries_tenant_id_conversation_id"),
        "conversation_summaries",
        ["tenant_id", "conversation_id"],
    )


def downgrade() -> None:
    op.drop_table("conversation_summaries")
    with op.batch_alter_table("conversations") as changes:
        changes.drop_column("summary_id")
    with op.batch_alter_table("agents") as changes:
        changes.drop_column("compaction_model")
        changes.drop_column("max_context_tokens")
