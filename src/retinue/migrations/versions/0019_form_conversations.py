"""Forms that are filled in by talking: conversations and their messages."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "form_conversations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("answers", types.Json(), nullable=False),
        sa.Column("prefilled", types.Json(), nullable=False),
        sa.Column("skipped", types.Json(), nullable=False),
        sa.Column("asked", types.Text, nullable=True),
        sa.Column("is_confirming", sa.Boolean(), nullable=False),
        sa.Column("language", types.Text, nullable=True),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("message_count", sa.BigInteger(), nullable=False),
        sa.Column("said_characters", sa.BigInteger(), nullable=False),
        sa.Column("turn_id", types.Text, nullable=True),
        sa.Column("busy_until", types.Text, nullable=True),
        sa.Column("submission_id", types.Text, nullable=True),
        sa.Column("closed_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_conversations")),
    )
    op.create_index(
        op.f("ix_form_conversations_closed_at"), "form_conversations", ["closed_at"], unique=False
    )
    op.create_index(
        op.f("ix_form_conversations_status_updated_at"),
        "form_conversations",
        ["status", "updated_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_form_conversations_tenant_id_form_id_created_at"),
        "form_conversations",
        ["tenant_id", "form_id", "created_at"],
        unique=False,
    )
    _create_messages()


def _create_messages() -> None:
    op.create_table(
        "form_conversation_messages",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("role", types.Text, nullable=False),
        sa.Column("content", types.Text, nullable=False),
        sa.Column("field_id", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["form_conversations.tenant_id", "form_conversations.id"],
            name=op.f("fk_form_conversation_messages_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_conversation_messages")),
        sa.UniqueConstraint(
            "tenant_id",
            "conversation_id",
            "position",
            name=op.f("uq_form_conversation_messages_tenant_id_conversation_id_position"),
        ),
    )
