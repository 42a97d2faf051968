"""Incoming webhooks and what they received."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "incoming_webhooks",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=True),
        sa.Column("workflow_id", types.Text, nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("verification_type", types.Text, nullable=False),
        sa.Column("verification_header", types.Text, nullable=True),
        sa.Column("secret", types.SealedColumn(), nullable=True),
        sa.Column("dedupe_header", types.Text, nullable=True),
        sa.Column("event_count", sa.BigInteger(), nullable=False),
        sa.Column("last_received_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_incoming_webhooks")),
        sa.UniqueConstraint("slug", name=op.f("uq_incoming_webhooks_slug")),
    )
    op.create_index(
        op.f("ix_incoming_webhooks_tenant_id_created_at"),
        "incoming_webhooks",
        ["tenant_id", "created_at"],
        unique=False,
    )
    _create_events()
    op.create_table(
        "incoming_large_payloads",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("incoming_webhook_id", types.Text, nullable=False),
        sa.Column("payload", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_incoming_large_payloads")),
    )
    op.create_index(
        op.f("ix_incoming_large_payloads_created_at"), "incoming_large_payloads", ["created_at"], unique=False
    )
    op.create_index(
        op.f("ix_incoming_large_payloads_tenant_id_incoming_webhook_id"),
        "incoming_large_payloads",
        ["tenant_id", "incoming_webhook_id"],
        unique=False,
    )


def _create_events() -> None:
    op.create_table(
        "incoming_events",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("incoming_webhook_id", types.Text, nullable=False),
        sa.Column("payload", types.Text, nullable=True),
        sa.Column("payload_bytes", sa.BigInteger(), nullable=False),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("query", types.Json(), nullable=False),
        sa.Column("content_type", types.Text, nullable=True),
        sa.Column("source_ip", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("is_waiting", sa.Boolean(), nullable=False),
        sa.Column("delivery_key", types.Text, nullable=True),
        sa.Column("duplicate_of", types.Text, nullable=True),
        sa.Column("replay_of", types.Text, nullable=True),
        sa.Column("workflow_id", types.Text, nullable=True),
        sa.Column("workflow_execution_id", types.Text, nullable=True),
        sa.Column("event_id", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("error", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_incoming_events")),
        sa.UniqueConstraint(
            "tenant_id",
            "incoming_webhook_id",
            "delivery_key",
            name=op.f("uq_incoming_events_tenant_id_incoming_webhook_id_delivery_key"),
        ),
    )
    op.create_index(op.f("ix_incoming_events_created_at"), "incoming_events", ["created_at"], unique=False)
    op.create_index(
        op.f("ix_incoming_events_tenant_id_incoming_webhook_id_created_at"),
        "incoming_events",
        ["tenant_id", "incoming_webhook_id", "created_at"],
        unique=False,
    )
    op.create_index(
        "ix_incoming_events_is_waiting",
        "incoming_events",
        ["tenant_id", "incoming_webhook_id"],
        unique=False,
        sqlite_where=sa.text("is_waiting = 1"),
        postgresql_where=sa.text("is_waiting"),
    )
