"""Parts of traces, and the trace that events and jobs belong to."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trace_parts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("trace_id", types.Text, nullable=False),
        sa.Column("root_span_id", types.Text, nullable=False),
        sa.Column("parent_span_id", types.Text, nullable=True),
        sa.Column("is_first", sa.Boolean(), nullable=False),
        sa.Column("kind", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("error_code", types.Text, nullable=True),
        sa.Column("error_message", types.Text, nullable=True),
        sa.Column("started_at", types.Text, nullable=False),
        sa.Column("duration_us", sa.BigInteger(), nullable=False),
        sa.Column("span_count", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", types.Text, nullable=True),
        sa.Column("conversation_id", types.Text, nullable=True),
        sa.Column("workflow_id", types.Text, nullable=True),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("spans", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_trace_parts")),
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_agent_id_created_at"),
        "trace_parts",
        ["tenant_id", "agent_id", "created_at"],
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_is_first_created_at"),
        "trace_parts",
        ["tenant_id", "is_first", "created_at"],
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_trace_id_created_at"),
        "trace_parts",
        ["tenant_id", "trace_id", "created_at"],
    )
    op.create_table(
        "trace_export_queue",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("exporter_id", types.Text, nullable=False),
        sa.Column("part_id", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_trace_export_queue")),
    )
    op.create_index(op.f("ix_trace_export_queue_exporter_id_id"), "trace_export_queue", ["exporter_id", "id"])
    op.add_column(
        "event_log", sa.Column("trace_parent", types.Text, server_default=sa.text("''"), nullable=False)
    )
    op.add_column(
        "workflow_executions",
        sa.Column("trace_parent", types.Text, server_default=sa.text("''"), nullable=False),
    )
    op.add_column("jobs", sa.Column("trace_parent", types.Text, server_default=sa.text("''"), nullable=False))
