"""Add conversations that others of the organization may read."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.create_table(
        "conversation_readers",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_conversation_readers_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_readers")),
        sa.UniqueConstraint(
            "tenant_id",
            "conversation_id",
            "user_id",
            name=op.f("uq_conversation_readers_tenant_id_conversation_id_user_id"),
        ),
    )
    op.create_index(
        op.f("ix_conversation_readers_tenant_id_user_id"),
        "conversation_readers",
        ["tenant_id", "user_id"],
        unique=False,
    )
    op.create_table(
        "conversation_shares",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("audience", types.Text, nullable=False),
        sa.Column("until_message_id", types.Text, nullable=False),
        sa.Column("until_position", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_conversation_shares_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_shares")),
        sa.UniqueConstraint(
            "tenant_id", "conversation_id", name=op.f("uq_conversation_shares_tenant_id_conversation_id")
        ),
    )
    op.add_column(
        "conversations", sa.Column("is_shared", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
