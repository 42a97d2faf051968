"""Event subscriptions, the tenant's signing secret, and an event log that is found by category and chain."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _subscriptions()
    _signing()
    op.add_column("chat_jobs", sa.Column("callback_url", types.Text, nullable=True))
    op.create_index(
        op.f("ix_event_log_tenant_id_category_created_at"),
        "event_log",
        ["tenant_id", "category", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_event_log_tenant_id_correlation_id_created_at"),
        "event_log",
        ["tenant_id", "correlation_id", "created_at"],
        unique=False,
    )
    op.drop_index(op.f("ix_event_log_tenant_id_correlation_id"), table_name="event_log")


def _subscriptions() -> None:
    op.create_table(
        "event_subscriptions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("event_type", types.Text, nullable=False),
        sa.Column("is_pattern", sa.Boolean(), nullable=False),
        sa.Column("action_type", types.Text, nullable=False),
        sa.Column("action_config", types.Json(), nullable=False),
        sa.Column("header_values", types.SealedColumn(), nullable=True),
        sa.Column("filters", types.Json(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("workflow_id", types.Text, nullable=True),
        sa.Column("trigger_count", sa.BigInteger(), nullable=False),
        sa.Column("failure_count", sa.BigInteger(), nullable=False),
        sa.Column("last_triggered_at", types.Text, nullable=True),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_event_subscriptions")),
    )
    for columns in (
        ["tenant_id", "active", "event_type"],
        ["tenant_id", "created_at"],
        ["tenant_id", "workflow_id"],
    ):
        name = op.f(f"ix_event_subscriptions_{'_'.join(columns)}")
        op.create_index(name, "event_subscriptions", columns, unique=False)


def _signing() -> None:
    op.create_table(
        "signing_secrets",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("secrets", types.SealedColumn(), nullable=False),
        sa.Column("previous_until", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_signing_secrets")),
        sa.UniqueConstraint("tenant_id", name=op.f("uq_signing_secrets_tenant_id")),
    )
    op.create_table(
        "signed_messages",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("url", types.Text, nullable=False),
        sa.Column("content", types.SealedColumn(), nullable=False),
        sa.Column("event_id", types.Text, nullable=False),
        sa.Column("event_type", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_signed_messages")),
    )
