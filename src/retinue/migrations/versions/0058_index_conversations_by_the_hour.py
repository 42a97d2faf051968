"""Index conversations by the hour."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None
# They would write messages without the hour, and their lists would miss the index that this removes.
is_safe_beside_previous = False


def upgrade() -> None:
    op.add_column(
        "conversations",
        sa.Column("last_message_hour", types.Text, server_default=sa.text("('')"), nullable=False),
    )
    op.execute("UPDATE conversations SET last_message_hour = substr(last_message_at, 1, 13)")
    op.drop_index(op.f("ix_conversations_status_last_message_at"), table_name="conversations")
    op.drop_index(op.f("ix_conversations_tenant_id_agent_id_last_message_at"), table_name="conversations")
    op.drop_index(op.f("ix_conversations_tenant_id_last_message_at_title_id"), table_name="conversations")
    op.drop_index(op.f("ix_conversations_tenant_id_user_id_last_message_at"), table_name="conversations")
    op.create_index(
        "ix_conversations_active",
        "conversations",
        ["last_message_hour"],
        unique=False,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        op.f("ix_conversations_tenant_id_agent_id_last_message_hour"),
        "conversations",
        ["tenant_id", "agent_id", "last_message_hour"],
        unique=False,
    )
    op.create_index(
        op.f("ix_conversations_tenant_id_last_message_hour_title"),
        "conversations",
        ["tenant_id", "last_message_hour", "title"],
        unique=False,
    )
    op.create_index(
        "ix_conversations_user_id_present",
        "conversations",
        ["tenant_id", "user_id", "last_message_hour"],
        unique=False,
        sqlite_where=sa.text("user_id IS NOT NULL"),
        postgresql_where=sa.text("user_id IS NOT NULL"),
    )
    op.drop_index(op.f("ix_event_log_tenant_id_category_created_at"), table_name="event_log")
    op.drop_index(op.f("ix_event_log_tenant_id_created_at"), table_name="event_log")
    op.drop_index(op.f("ix_event_log_tenant_id_type_created_at"), table_name="event_log")
    op.create_index(
        op.f("ix_event_log_tenant_id_created_at_type_category"),
        "event_log",
        ["tenant_id", "created_at", "type", "category"],
        unique=False,
    )
    op.drop_index(op.f("ix_messages_tenant_id_reply_id"), table_name="messages")
    op.create_index(
        "ix_messages_reply_id_present",
        "messages",
        ["tenant_id", "reply_id"],
        unique=False,
        sqlite_where=sa.text("reply_id IS NOT NULL"),
        postgresql_where=sa.text("reply_id IS NOT NULL"),
    )
