"""Receivers of the audit log."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_streams",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("url", types.Text, nullable=False),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("header_values", sa.LargeBinary(), nullable=True),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("due_at", types.Text, nullable=False),
        sa.Column("failure_count", sa.BigInteger(), nullable=False),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("last_sent_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_audit_streams")),
    )
    op.create_index(op.f("ix_audit_streams_enabled_due_at"), "audit_streams", ["enabled", "due_at"])
    op.create_index(
        op.f("ix_audit_streams_tenant_id_created_at"), "audit_streams", ["tenant_id", "created_at"]
    )
