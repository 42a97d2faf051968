"""Outgoing webhooks and their deliveries."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def _record(*columns: sa.Column[object]) -> list[sa.Column[object]]:
    return [
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        *columns,
    ]


def upgrade() -> None:
    _create_webhooks()
    _create_deliveries()
    op.create_table(
        "webhook_hours",
        *_record(
            sa.Column("delivered", sa.BigInteger(), nullable=False),
            sa.Column("failed", sa.BigInteger(), nullable=False),
            sa.Column("answered", sa.BigInteger(), nullable=False),
            sa.Column("time_ms", sa.BigInteger(), nullable=False),
            sa.Column("times", types.Json(), nullable=False),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_hours")),
    )


def _create_webhooks() -> None:
    op.create_table(
        "webhooks",
        *_record(
            sa.Column("url", types.Text, nullable=False),
            sa.Column("events", types.Json(), nullable=False),
            sa.Column("filters", types.Json(), nullable=False),
            sa.Column("description", types.Text, nullable=True),
            sa.Column("headers", types.Json(), nullable=False),
            sa.Column("is_active", sa.Boolean(), nullable=False),
            sa.Column("secrets", types.SealedColumn(), nullable=False),
            sa.Column("secret_prefix", types.Text, nullable=False),
            sa.Column("previous_secret_until", types.Text, nullable=True),
            sa.Column("disabled_reason", types.Text, nullable=True),
            sa.Column("disable_at", types.Text, nullable=True),
            sa.Column("last_delivery_at", types.Text, nullable=True),
            sa.Column("delivered_count", sa.BigInteger(), nullable=False),
            sa.Column("failed_count", sa.BigInteger(), nullable=False),
            sa.Column("created_by", types.Text, nullable=False),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_tenant_id_created_at"), "webhooks", ["tenant_id", "created_at"])


def _create_deliveries() -> None:
    op.create_table(
        "webhook_messages",
        *_record(sa.Column("body", types.Text, nullable=False)),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_messages")),
    )
    op.create_index(op.f("ix_webhook_messages_created_at"), "webhook_messages", ["created_at"])
    op.create_table(
        "webhook_deliveries",
        *_record(
            sa.Column("webhook_id", types.Text, nullable=False),
            sa.Column("event_id", types.Text, nullable=False),
            sa.Column("event_type", types.Text, nullable=False),
            sa.Column("status", types.Text, nullable=False),
            sa.Column("attempt", sa.BigInteger(), nullable=False),
            sa.Column("response_code", sa.BigInteger(), nullable=True),
            sa.Column("response_time_ms", sa.BigInteger(), nullable=True),
            sa.Column("error", types.Text, nullable=True),
            sa.Column("error_message", types.Text, nullable=True),
            sa.Column("next_attempt_at", types.Text, nullable=True),
            sa.Column("completed_at", types.Text, nullable=True),
            sa.Column("is_test", sa.Boolean(), nullable=False),
            sa.Column("is_scheduled", sa.Boolean(), nullable=False),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint(
            "tenant_id",
            "event_id",
            "webhook_id",
            name=op.f("uq_webhook_deliveries_tenant_id_event_id_webhook_id"),
        ),
    )
    for columns in (
        ["tenant_id", "webhook_id", "created_at", "id"],
        ["tenant_id", "webhook_id", "status", "created_at", "id"],
        ["created_at"],
    ):
        op.create_index(op.f(f"ix_webhook_deliveries_{'_'.join(columns)}"), "webhook_deliveries", columns)
    op.create_table(
        "webhook_attempts",
        *_record(
            sa.Column("delivery_id", types.Text, nullable=False),
            sa.Column("number", sa.BigInteger(), nullable=False),
            sa.Column("started_at", types.Text, nullable=False),
            sa.Column("response_code", sa.BigInteger(), nullable=True),
            sa.Column("response_time_ms", sa.BigInteger(), nullable=True),
            sa.Column("response_body", types.Text, nullable=True),
            sa.Column("error", types.Text, nullable=True),
            sa.Column("error_message", types.Text, nullable=True),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_attempts")),
        sa.UniqueConstraint(
            "delivery_id",
            "tenant_id",
            "number",
            name=op.f("uq_webhook_attempts_delivery_id_tenant_id_number"),
        ),
    )
