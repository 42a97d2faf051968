"""Trace exporters."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "instance_trace_export",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("due_at", types.Text, nullable=False),
        sa.Column("failure_count", sa.BigInteger(), nullable=False),
        sa.Column("failing_since", types.Text, nullable=True),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("last_sent_at", types.Text, nullable=True),
        sa.Column("sent_spans", sa.BigInteger(), nullable=False),
        sa.Column("dropped_spans", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance_trace_export")),
    )
    op.create_table(
        "trace_exporters",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("endpoint", types.Text, nullable=False),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("header_values", types.SealedColumn(), nullable=True),
        sa.Column("encoding", types.Text, nullable=False),
        sa.Column("include_content", sa.Boolean(), nullable=False),
        sa.Column("sample", sa.Double(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("due_at", types.Text, nullable=False),
        sa.Column("failure_count", sa.BigInteger(), nullable=False),
        sa.Column("failing_since", types.Text, nullable=True),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("last_sent_at", types.Text, nullable=True),
        sa.Column("sent_spans", sa.BigInteger(), nullable=False),
        sa.Column("dropped_spans", sa.BigInteger(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_trace_exporters")),
    )
    op.create_index(
        op.f("ix_trace_exporters_enabled_due_at"), "trace_exporters", ["enabled", "due_at"], unique=False
    )
    op.create_index(
        op.f("ix_trace_exporters_tenant_id_created_at"),
        "trace_exporters",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_index(
        "ix_trace_parts_conversation_id_present",
        "trace_parts",
        ["tenant_id", "conversation_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("conversation_id IS NOT NULL"),
        postgresql_where=sa.text("conversation_id IS NOT NULL"),
    )
    op.create_index(
        "ix_trace_parts_error_code_present",
        "trace_parts",
        ["tenant_id", "created_at", "error_code"],
        unique=False,
        sqlite_where=sa.text("error_code IS NOT NULL"),
        postgresql_where=sa.text("error_code IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_correlation_id_created_at"),
        "trace_parts",
        ["tenant_id", "correlation_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_created_at_kind_duration_us_user_id"),
        "trace_parts",
        ["tenant_id", "created_at", "kind", "duration_us", "user_id"],
        unique=False,
    )
    op.create_index(
        "ix_trace_parts_workflow_id_present",
        "trace_parts",
        ["tenant_id", "workflow_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("workflow_id IS NOT NULL"),
        postgresql_where=sa.text("workflow_id IS NOT NULL"),
    )
