"""Notification channels, deliveries and user notifications."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notification_totals",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("channel_id", types.Text, nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("provider", types.Text, nullable=False),
        sa.Column("bucket", types.Text, nullable=False),
        sa.Column("accepted", sa.BigInteger(), nullable=False),
        sa.Column("delivered", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("time_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_delivery_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_totals")),
        sa.UniqueConstraint(
            "tenant_id",
            "channel_id",
            "bucket",
            name=op.f("uq_notification_totals_tenant_id_channel_id_bucket"),
        ),
    )
    op.create_index(
        op.f("ix_notification_totals_tenant_id_bucket"),
        "notification_totals",
        ["tenant_id", "bucket"],
        unique=False,
    )
    op.create_table(
        "notification_channels",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("provider", types.Text, nullable=False),
        sa.Column("config", types.Json(), nullable=False),
        sa.Column("secrets", types.SealedColumn(), nullable=True),
        sa.Column("secret_keys", types.Json(), nullable=False),
        sa.Column("credential_id", types.Text, nullable=True),
        sa.Column("destination", types.Text, nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "credential_id"],
            ["credentials.tenant_id", "credentials.id"],
            name=op.f("fk_notification_channels_tenant_id_credential_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_channels")),
    )
    op.create_index(
        op.f("ix_notification_channels_tenant_id_credential_id"),
        "notification_channels",
        ["tenant_id", "credential_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_notification_channels_tenant_id_type_priority_created_at"),
        "notification_channels",
        ["tenant_id", "type", "priority", "created_at"],
        unique=False,
    )
    op.create_table(
        "notification_inboxes",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("last_number", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("unread", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_notification_inboxes_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_inboxes")),
        sa.UniqueConstraint("tenant_id", "user_id", name=op.f("uq_notification_inboxes_tenant_id_user_id")),
    )
    op.create_index(
        op.f("ix_notification_inboxes_updated_at"), "notification_inboxes", ["updated_at"], unique=False
    )
    op.create_table(
        "notification_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("key", types.Text, nullable=False),
        sa.Column("seen_at", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_notification_keys_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_keys")),
        sa.UniqueConstraint(
            "tenant_id", "user_id", "key", name=op.f("uq_notification_keys_tenant_id_user_id_key")
        ),
    )
    op.create_index(op.f("ix_notification_keys_seen_at"), "notification_keys", ["seen_at"], unique=False)
    op.create_table(
        "notification_preferences",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("ways", types.Json(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_notification_preferences_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_preferences")),
        sa.UniqueConstraint(
            "tenant_id", "user_id", name=op.f("uq_notification_preferences_tenant_id_user_id")
        ),
    )
    op.create_table(
        "user_notifications",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("title", types.Text, nullable=False),
        sa.Column("message", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.Column("priority", types.Text, nullable=False),
        sa.Column("action_url", types.Text, nullable=True),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("is_unread", sa.Boolean(), nullable=False),
        sa.Column("read_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_user_notifications_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_user_notifications")),
        sa.UniqueConstraint(
            "tenant_id", "user_id", "number", name=op.f("uq_user_notifications_tenant_id_user_id_number")
        ),
    )
    op.create_index(
        op.f("ix_user_notifications_created_at"), "user_notifications", ["created_at"], unique=False
    )
    op.create_index(
        "ix_user_notifications_is_unread",
        "user_notifications",
        ["tenant_id", "user_id", "number"],
        unique=False,
        sqlite_where=sa.text("is_unread = 1"),
        postgresql_where=sa.text("is_unread"),
    )
    op.create_index(
        op.f("ix_user_notifications_tenant_id_user_id_type_number"),
        "user_notifications",
        ["tenant_id", "user_id", "type", "number"],
        unique=False,
    )
    op.create_table(
        "notification_deliveries",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("channel_id", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("subject", types.Text, nullable=False),
        sa.Column("recipient", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("content", types.Json(), nullable=True),
        sa.Column("may_fall_back", sa.Boolean(), nullable=False),
        sa.Column("tried", types.Json(), nullable=False),
        sa.Column("fallback_of", types.Text, nullable=True),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("delivery_time_ms", sa.BigInteger(), nullable=True),
        sa.Column("error_code", types.Text, nullable=True),
        sa.Column("error", types.Text, nullable=True),
        sa.Column("bucket", types.Text, nullable=False),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "channel_id"],
            ["notification_channels.tenant_id", "notification_channels.id"],
            name=op.f("fk_notification_deliveries_tenant_id_channel_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_deliveries")),
    )
    op.create_index(
        op.f("ix_notification_deliveries_created_at"), "notification_deliveries", ["created_at"], unique=False
    )
    op.create_index(
        "ix_notification_deliveries_status",
        "notification_deliveries",
        ["tenant_id", "channel_id", "status", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_notification_deliveries_tenant_id_channel_id_created_at"),
        "notification_deliveries",
        ["tenant_id", "channel_id", "created_at"],
        unique=False,
    )
