"""Workflows, their versions, runs and schedules."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("chat_jobs", sa.Column("waiting", types.Json(), nullable=True))
    _create_workflows()
    _create_workflow_versions()
    _create_workflow_executions()
    _create_workflow_node_runs()
    _create_workflow_schedules()


def _create_workflows() -> None:
    op.create_table(
        "workflows",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("trigger", types.Json(), nullable=False),
        sa.Column("nodes", types.Json(), nullable=False),
        sa.Column("edges", types.Json(), nullable=False),
        sa.Column("input_schema", types.Json(), nullable=True),
        sa.Column("settings", types.Json(), nullable=False),
        sa.Column("listens", sa.Boolean(), nullable=False),
        sa.Column("published_at", types.Text, nullable=True),
        sa.Column("execution_count", sa.BigInteger(), nullable=False),
        sa.Column("success_count", sa.BigInteger(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflows")),
    )
    op.create_index(
        "ix_workflows_listens",
        "workflows",
        ["tenant_id"],
        unique=False,
        sqlite_where=sa.text("listens = 1"),
        postgresql_where=sa.text("listens"),
    )
    op.create_index(
        op.f("ix_workflows_tenant_id_created_at"), "workflows", ["tenant_id", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_workflows_tenant_id_status_created_at"),
        "workflows",
        ["tenant_id", "status", "created_at"],
        unique=False,
    )


def _create_workflow_versions() -> None:
    op.create_table(
        "workflow_versions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("workflow_id", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("is_draft", sa.Boolean(), nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("nodes", types.Json(), nullable=False),
        sa.Column("edges", types.Json(), nullable=False),
        sa.Column("input_schema", types.Json(), nullable=True),
        sa.Column("settings", types.Json(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "workflow_id"],
            ["workflows.tenant_id", "workflows.id"],
            name=op.f("fk_workflow_versions_tenant_id_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_versions")),
    )
    op.create_index(
        op.f("ix_workflow_versions_tenant_id_workflow_id_version"),
        "workflow_versions",
        ["tenant_id", "workflow_id", "version"],
        unique=False,
    )


def _create_workflow_executions() -> None:
    op.create_table(
        "workflow_executions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("workflow_id", types.Text, nullable=False),
        sa.Column("version_id", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("is_running", sa.Boolean(), nullable=False),
        sa.Column("is_pending", sa.Boolean(), nullable=False),
        sa.Column("is_due", sa.Boolean(), nullable=False),
        sa.Column("trigger", types.Text, nullable=False),
        sa.Column("trigger_id", types.Text, nullable=False),
        sa.Column("trigger_data", types.Json(), nullable=False),
        sa.Column("input", types.Json(), nullable=True),
        sa.Column("output", types.Json(), nullable=True),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("progress", types.Text, nullable=False),
        sa.Column("open", sa.BigInteger(), nullable=False),
        sa.Column("active", sa.BigInteger(), nullable=False),
        sa.Column("trail", types.Text, nullable=False),
        sa.Column("run_as", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("hops", sa.BigInteger(), nullable=False),
        sa.Column("depth", sa.BigInteger(), nullable=False),
        sa.Column("retry_of", types.Text, nullable=True),
        sa.Column("waiter", types.Json(), nullable=True),
        sa.Column("deadline_at", sa.Double(), nullable=True),
        sa.Column("started_at", types.Text, nullable=True),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "workflow_id"],
            ["workflows.tenant_id", "workflows.id"],
            name=op.f("fk_workflow_executions_tenant_id_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_executions")),
    )
    op.create_index(
        "ix_workflow_executions_is_due",
        "workflow_executions",
        ["deadline_at"],
        unique=False,
        sqlite_where=sa.text("is_due = 1"),
        postgresql_where=sa.text("is_due"),
    )
    op.create_index(
        "ix_workflow_executions_is_pending",
        "workflow_executions",
        ["tenant_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("is_pending = 1"),
        postgresql_where=sa.text("is_pending"),
    )
    op.create_index(
        "ix_workflow_executions_is_running",
        "workflow_executions",
        ["tenant_id", "workflow_id"],
        unique=False,
        sqlite_where=sa.text("is_running = 1"),
        postgresql_where=sa.text("is_running"),
    )
    op.create_index(
        op.f("ix_workflow_executions_tenant_id_workflow_id_created_at"),
        "workflow_executions",
        ["tenant_id", "workflow_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_workflow_executions_tenant_id_workflow_id_status_created_at"),
        "workflow_executions",
        ["tenant_id", "workflow_id", "status", "created_at"],
        unique=False,
    )


def _create_workflow_node_runs() -> None:
    op.create_table(
        "workflow_node_runs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("execution_id", types.Text, nullable=False),
        sa.Column("node_id", types.Text, nullable=False),
        sa.Column("item", sa.BigInteger(), nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("input", types.Json(), nullable=True),
        sa.Column("output", types.Json(), nullable=True),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("state", types.Json(), nullable=False),
        sa.Column("started_at", types.Text, nullable=False),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["workflow_executions.tenant_id", "workflow_executions.id"],
            name=op.f("fk_workflow_node_runs_tenant_id_execution_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_node_runs")),
        sa.UniqueConstraint(
            "tenant_id",
            "execution_id",
            "node_id",
            "item",
            name=op.f("uq_workflow_node_runs_tenant_id_execution_id_node_id_item"),
        ),
    )


def _create_workflow_schedules() -> None:
    op.create_table(
        "workflow_schedules",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("workflow_id", types.Text, nullable=False),
        sa.Column("cron", types.Text, nullable=False),
        sa.Column("timezone", types.Text, nullable=False),
        sa.Column("input", types.Json(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("is_trigger", sa.Boolean(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("last_run_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "workflow_id"],
            ["workflows.tenant_id", "workflows.id"],
            name=op.f("fk_workflow_schedules_tenant_id_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_schedules")),
    )
    op.create_index(
        "ix_workflow_schedules_active",
        "workflow_schedules",
        ["next_at"],
        unique=False,
        sqlite_where=sa.text("active = 1"),
        postgresql_where=sa.text("active"),
    )
    op.create_index(
        op.f("ix_workflow_schedules_tenant_id_workflow_id_created_at"),
        "workflow_schedules",
        ["tenant_id", "workflow_id", "created_at"],
        unique=False,
    )
