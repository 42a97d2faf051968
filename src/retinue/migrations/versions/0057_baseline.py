"""Baseline: the whole schema of 0.1.0, in the place of the 57 migrations before it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from retinue.kit.db import types

revision = "0057"
down_revision = None
branch_labels = None
depends_on = None
is_safe_beside_previous = False


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("title", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("source_type", types.Text, nullable=False),
        sa.Column("source", types.Json(), nullable=False),
        sa.Column("agent_id", types.Text, nullable=True),
        sa.Column("tool_id", types.Text, nullable=True),
        sa.Column("requester_id", types.Text, nullable=False),
        sa.Column("requested_by", types.Json(), nullable=False),
        sa.Column("approvers", types.Json(), nullable=False),
        sa.Column("required_approvals", sa.BigInteger(), nullable=False),
        sa.Column("approvals_received", sa.BigInteger(), nullable=False),
        sa.Column("allow_self_approval", sa.Boolean(), nullable=False),
        sa.Column("payload", types.Json(), nullable=False),
        sa.Column("editable_fields", types.Json(), nullable=False),
        sa.Column("fields", types.Json(), nullable=False),
        sa.Column("edited_input", types.Json(), nullable=True),
        sa.Column("on_timeout", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("continuation", types.Text, nullable=True),
        sa.Column("waiting_key", types.Text, nullable=True),
        sa.Column("reminded_at", types.Text, nullable=True),
        sa.Column("resolved_at", types.Text, nullable=True),
        sa.Column("resolved_by", types.Text, nullable=True),
        sa.Column("conversation_ids", types.Json(), nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_approvals")),
    )
    op.create_index(
        op.f("ix_approvals_status_expires_at"), "approvals", ["status", "expires_at"], unique=False
    )
    op.create_index(
        op.f("ix_approvals_tenant_id_agent_id_created_at"),
        "approvals",
        ["tenant_id", "agent_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_approvals_tenant_id_created_at"), "approvals", ["tenant_id", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_approvals_tenant_id_status_created_at"),
        "approvals",
        ["tenant_id", "status", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_approvals_tenant_id_tool_id_created_at"),
        "approvals",
        ["tenant_id", "tool_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_approvals_tenant_id_waiting_key"), "approvals", ["tenant_id", "waiting_key"], unique=False
    )
    op.create_table(
        "attempts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("window_ends", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
    )
    op.create_index(op.f("ix_attempts_window_ends"), "attempts", ["window_ends"], unique=False)
    op.create_table(
        "audit_heads",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("hash", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_heads")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("action", types.Text, nullable=False),
        sa.Column("subject_id", types.Text, nullable=False),
        sa.Column("actor", types.Json(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("reason", types.Text, nullable=True),
        sa.Column("ip_address", types.Text, nullable=False),
        sa.Column("user_agent", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("previous_hash", types.Text, nullable=False),
        sa.Column("hash", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_audit_log")),
        sa.UniqueConstraint("tenant_id", "sequence", name=op.f("uq_audit_log_tenant_id_sequence")),
    )
    op.create_index(
        op.f("ix_audit_log_tenant_id_created_at"), "audit_log", ["tenant_id", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_audit_log_tenant_id_subject_id_created_at"),
        "audit_log",
        ["tenant_id", "subject_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "audit_streams",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("url", types.Text, nullable=False),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("header_values", types.SealedColumn(), nullable=True),
        sa.Column("secret", types.SealedColumn(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("due_at", types.Text, nullable=False),
        sa.Column("failure_count", sa.BigInteger(), nullable=False),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("last_sent_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_audit_streams")),
    )
    op.create_index(
        op.f("ix_audit_streams_enabled_due_at"), "audit_streams", ["enabled", "due_at"], unique=False
    )
    op.create_index(
        op.f("ix_audit_streams_tenant_id_created_at"),
        "audit_streams",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "budgets",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("scope_type", types.Text, nullable=False),
        sa.Column("scope_id", types.Text, nullable=False),
        sa.Column("limit_usd", sa.Double(), nullable=True),
        sa.Column("limit_tokens", sa.BigInteger(), nullable=True),
        sa.Column("period", types.Text, nullable=False),
        sa.Column("soft_percent", sa.BigInteger(), nullable=False),
        sa.Column("action", types.Text, nullable=False),
        sa.Column("on_unpriced", types.Text, server_default=sa.text("'allow'"), nullable=False),
        sa.Column("announced_for", types.Text, nullable=False),
        sa.Column("announced_unpriced", types.Json(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_budgets")),
    )
    op.create_index(
        op.f("ix_budgets_tenant_id_created_at"), "budgets", ["tenant_id", "created_at"], unique=False
    )
    op.create_table(
        "chunk_vectors",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("document_id", types.Text, nullable=False),
        sa.Column("first_number", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chunk_vectors")),
        sa.UniqueConstraint(
            "tenant_id",
            "document_id",
            "first_number",
            name=op.f("uq_chunk_vectors_tenant_id_document_id_first_number"),
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Numbers of a vector hardly compress, and trying takes most of the time of storing them.
        op.execute("ALTER TABLE chunk_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL")
    op.create_table(
        "chunks",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("document_id", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("text", types.Text, nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=True),
        sa.Column("heading", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("tenant_id", "number", name=op.f("uq_chunks_tenant_id_number")),
    )
    op.create_index(
        op.f("ix_chunks_tenant_id_document_id_number"),
        "chunks",
        ["tenant_id", "document_id", "number"],
        unique=False,
    )
    op.create_table(
        "configurations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_configurations")),
    )
    op.create_table(
        "credentials",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("secrets", types.SealedColumn(), nullable=False),
        sa.Column("secret_keys", types.Json(), nullable=False),
        sa.Column("masked", types.Json(), nullable=False),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("destinations", types.Json(), nullable=False),
        sa.Column("is_valid", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.Column("expiry_announced", types.Text, nullable=True),
        sa.Column("token_expires_at", types.Text, nullable=True),
        sa.Column("token_renewed_at", types.Text, nullable=True),
        sa.Column("refresh_lease_until", types.Text, nullable=True),
        sa.Column("refresh_failed_at", types.Text, nullable=True),
        sa.Column("rotated_at", types.Text, nullable=True),
        sa.Column("last_tested_at", types.Text, nullable=True),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("entered_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_credentials")),
    )
    op.create_index(op.f("ix_credentials_expires_at"), "credentials", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_credentials_tenant_id_created_at"), "credentials", ["tenant_id", "created_at"], unique=False
    )
    op.create_index(op.f("ix_credentials_tenant_id_type"), "credentials", ["tenant_id", "type"], unique=False)
    op.create_index(
        op.f("ix_credentials_token_expires_at"), "credentials", ["token_expires_at"], unique=False
    )
    op.create_table(
        "data_tables",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("columns", types.Json(), nullable=False),
        sa.Column("next_key", sa.BigInteger(), nullable=False),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_data_tables")),
        sa.UniqueConstraint("row_key", name=op.f("uq_data_tables_row_key")),
        sa.UniqueConstraint("tenant_id", "slug", name=op.f("uq_data_tables_tenant_id_slug")),
    )
    op.create_index(op.f("ix_data_tables_tenant_id_name"), "data_tables", ["tenant_id", "name"], unique=False)
    op.create_table(
        "event_log",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("type", types.Text, nullable=False),
        sa.Column("category", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("subject_id", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.Column("actor", types.Json(), nullable=False),
        sa.Column("hops", sa.BigInteger(), nullable=False),
        sa.Column("lineage", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("trace_parent", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("is_dispatched", sa.Boolean(), nullable=False),
        sa.Column("conversation_ids", types.Json(), nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_event_log")),
    )
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
    op.create_index(
        op.f("ix_event_log_tenant_id_created_at"), "event_log", ["tenant_id", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_event_log_tenant_id_type_created_at"),
        "event_log",
        ["tenant_id", "type", "created_at"],
        unique=False,
    )
    op.create_index(
        "ix_event_log_waiting",
        "event_log",
        ["tenant_id", "created_at", "position"],
        unique=False,
        sqlite_where=sa.text("is_dispatched = 0"),
        postgresql_where=sa.text("NOT is_dispatched"),
    )
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
    op.create_index(
        op.f("ix_event_subscriptions_tenant_id_active_event_type"),
        "event_subscriptions",
        ["tenant_id", "active", "event_type"],
        unique=False,
    )
    op.create_index(
        op.f("ix_event_subscriptions_tenant_id_created_at"),
        "event_subscriptions",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_event_subscriptions_tenant_id_workflow_id"),
        "event_subscriptions",
        ["tenant_id", "workflow_id"],
        unique=False,
    )
    op.create_table(
        "files",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("filename", types.Text, nullable=False),
        sa.Column("mime_type", types.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", types.Text, nullable=False),
        sa.Column("purpose", types.Text, nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_files")),
        sa.UniqueConstraint("id", name=op.f("uq_files_id")),
    )
    op.create_index(op.f("ix_files_expires_at"), "files", ["expires_at"], unique=False)
    op.create_index(op.f("ix_files_tenant_id_created_at"), "files", ["tenant_id", "created_at"], unique=False)
    op.create_index(
        op.f("ix_files_tenant_id_purpose_created_at"),
        "files",
        ["tenant_id", "purpose", "created_at"],
        unique=False,
    )
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
    op.create_table(
        "form_days",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("day", types.Text, nullable=False),
        sa.Column("views", sa.BigInteger(), nullable=False),
        sa.Column("starts", sa.BigInteger(), nullable=False),
        sa.Column("submissions", sa.BigInteger(), nullable=False),
        sa.Column("processed", sa.BigInteger(), nullable=False),
        sa.Column("archived", sa.BigInteger(), nullable=False),
        sa.Column("timed", sa.BigInteger(), nullable=False),
        sa.Column("took_ms", sa.BigInteger(), nullable=False),
        sa.Column("filled", types.Json(), nullable=False),
        sa.Column("sources", types.Json(), nullable=False),
        sa.Column("dropped", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_days")),
    )
    op.create_index(
        op.f("ix_form_days_tenant_id_form_id_day"), "form_days", ["tenant_id", "form_id", "day"], unique=False
    )
    op.create_table(
        "form_progress",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.Column("last_field_id", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_progress")),
    )
    op.create_index(
        op.f("ix_form_progress_tenant_id_form_id_updated_at"),
        "form_progress",
        ["tenant_id", "form_id", "updated_at"],
        unique=False,
    )
    op.create_index(op.f("ix_form_progress_updated_at"), "form_progress", ["updated_at"], unique=False)
    op.create_table(
        "form_search",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("indexed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_search")),
        sa.UniqueConstraint("row_key", name=op.f("uq_form_search_row_key")),
    )
    op.create_table(
        "form_submissions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("form_version", sa.BigInteger(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("files", types.Json(), nullable=False),
        sa.Column("source", types.Text, nullable=False),
        sa.Column("searched", types.Text, nullable=False),
        sa.Column("submitted_by", types.Text, nullable=False),
        sa.Column("is_signed_in", sa.Boolean(), nullable=False),
        sa.Column("took_ms", sa.BigInteger(), nullable=True),
        sa.Column("workflow_execution_id", types.Text, nullable=True),
        sa.Column("data_table_row_id", types.Text, nullable=True),
        sa.Column("data_table_error", types.Text, nullable=True),
        sa.Column("notes", types.Text, nullable=True),
        sa.Column("is_uncounted", sa.Boolean(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("processed_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_submissions")),
    )
    op.create_index(
        "ix_form_submissions_is_signed_in",
        "form_submissions",
        ["tenant_id", "form_id", "submitted_by"],
        unique=False,
        sqlite_where=sa.text("is_signed_in = 1"),
        postgresql_where=sa.text("is_signed_in"),
    )
    op.create_index(
        "ix_form_submissions_is_uncounted",
        "form_submissions",
        ["tenant_id", "form_id", "created_at", "id"],
        unique=False,
        sqlite_where=sa.text("is_uncounted = 1"),
        postgresql_where=sa.text("is_uncounted"),
    )
    op.create_index(
        op.f("ix_form_submissions_tenant_id_form_id_created_at_id"),
        "form_submissions",
        ["tenant_id", "form_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_form_submissions_tenant_id_form_id_status_created_at_id"),
        "form_submissions",
        ["tenant_id", "form_id", "status", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "uq_form_submissions_number",
        "form_submissions",
        ["tenant_id", "number"],
        unique=True,
        sqlite_where=sa.text("number IS NOT NULL"),
        postgresql_where=sa.text("number IS NOT NULL"),
    )
    op.create_table(
        "form_uploads",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("field_id", types.Text, nullable=False),
        sa.Column("submission_id", types.Text, nullable=True),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_uploads")),
    )
    op.create_index(op.f("ix_form_uploads_expires_at"), "form_uploads", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_form_uploads_tenant_id_form_id_created_at"),
        "form_uploads",
        ["tenant_id", "form_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_form_uploads_tenant_id_form_id_submission_id"),
        "form_uploads",
        ["tenant_id", "form_id", "submission_id"],
        unique=False,
    )
    op.create_table(
        "form_versions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("fields", types.Json(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_versions")),
        sa.UniqueConstraint(
            "tenant_id", "form_id", "version", name=op.f("uq_form_versions_tenant_id_form_id_version")
        ),
    )
    op.create_table(
        "forms",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("fields", types.Json(), nullable=False),
        sa.Column("settings", types.Json(), nullable=False),
        sa.Column("branding", types.Json(), nullable=False),
        sa.Column("workflow_id", types.Text, nullable=True),
        sa.Column("data_table_config", types.Json(), nullable=True),
        sa.Column("published_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_forms")),
        sa.UniqueConstraint("slug", name=op.f("uq_forms_slug")),
    )
    op.create_index(op.f("ix_forms_tenant_id_created_at"), "forms", ["tenant_id", "created_at"], unique=False)
    op.create_index(
        op.f("ix_forms_tenant_id_status_created_at"),
        "forms",
        ["tenant_id", "status", "created_at"],
        unique=False,
    )
    op.create_table(
        "function_vectors",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("text_key", types.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_function_vectors")),
        sa.UniqueConstraint(
            "tenant_id", "model", "text_key", name=op.f("uq_function_vectors_tenant_id_model_text_key")
        ),
    )
    op.create_index(op.f("ix_function_vectors_created_at"), "function_vectors", ["created_at"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("request_hash", types.Text, nullable=False),
        sa.Column("lease_until", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=True),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("body", types.SealedColumn(), nullable=True),
        sa.Column("claimed_by", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_expires_at"), "idempotency_keys", ["expires_at"], unique=False)
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
        sa.Column("conversation_ids", types.Json(), nullable=True),
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
        "ix_incoming_events_is_waiting",
        "incoming_events",
        ["tenant_id", "incoming_webhook_id"],
        unique=False,
        sqlite_where=sa.text("is_waiting = 1"),
        postgresql_where=sa.text("is_waiting"),
    )
    op.create_index(
        op.f("ix_incoming_events_tenant_id_incoming_webhook_id_created_at"),
        "incoming_events",
        ["tenant_id", "incoming_webhook_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "incoming_held_slugs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_incoming_held_slugs")),
        sa.UniqueConstraint("slug", name=op.f("uq_incoming_held_slugs_slug")),
    )
    op.create_index(
        op.f("ix_incoming_held_slugs_created_at"), "incoming_held_slugs", ["created_at"], unique=False
    )
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
    op.create_table(
        "instance_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("purpose", types.Text, nullable=False),
        sa.Column("secret", types.SealedColumn(), nullable=False),
        sa.Column("state", types.Text, nullable=False),
        sa.Column("retire_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance_keys")),
    )
    op.create_index(
        op.f("ix_instance_keys_purpose_state"), "instance_keys", ["purpose", "state"], unique=False
    )
    op.create_table(
        "instance_model_prices",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("input_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("output_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("cached_input_price_per_mtok", sa.Double(), nullable=True),
        sa.Column("cache_write_price_per_mtok", sa.Double(), nullable=True),
        sa.Column("speech_price_per_mchar", sa.Double(), nullable=True),
        sa.Column("transcription_price_per_minute", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance_model_prices")),
        sa.UniqueConstraint("model", name=op.f("uq_instance_model_prices_model")),
    )
    op.create_table(
        "instance_setup",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("token_hashes", types.Json(), nullable=False),
        sa.Column("closed_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance_setup")),
    )
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
        "invitations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("email", types.Text, nullable=False),
        sa.Column("role", types.Text, nullable=False),
        sa.Column("token_hash", types.Text, nullable=False),
        sa.Column("invited_by", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("accepted_at", types.Text, nullable=True),
        sa.Column("proves_address", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("tenant_id", "email", name=op.f("uq_invitations_tenant_id_email")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("kind", types.Text, nullable=False),
        sa.Column("queue", types.Text, nullable=False),
        sa.Column("payload", types.Json(), nullable=False),
        sa.Column("state", types.Text, nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("lane", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("run_at", sa.Double(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("interrupted", sa.BigInteger(), nullable=False),
        sa.Column("dedupe_key", types.Text, nullable=True),
        sa.Column("worker", types.Text, nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("last_error", types.Text, nullable=True),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("hops", sa.BigInteger(), nullable=False),
        sa.Column("lineage", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("trace_parent", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("actor", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_jobs")),
    )
    op.create_index(
        "ix_jobs_due",
        "jobs",
        ["queue", "run_at"],
        unique=False,
        sqlite_where=sa.text("state = 'ready' AND attempt >= 0"),
        postgresql_where=sa.text("state = 'ready' AND attempt >= 0"),
    )
    op.create_index(
        "ix_jobs_lanes",
        "jobs",
        ["queue", "tenant_id", "priority", "lane", "run_at"],
        unique=False,
        sqlite_where=sa.text("state = 'ready'"),
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index(
        "ix_jobs_leases",
        "jobs",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "uq_jobs_tenant_id_dedupe_key",
        "jobs",
        ["tenant_id", "dedupe_key"],
        unique=True,
        sqlite_where=sa.text("dedupe_key IS NOT NULL"),
        postgresql_where=sa.text("dedupe_key IS NOT NULL"),
    )
    op.create_table(
        "knowledge_bases",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("owner_id", types.Text, nullable=False),
        sa.Column("embedding_model", types.Text, nullable=False),
        sa.Column("dimensions", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("run_id", types.Text, nullable=False),
        sa.Column("run_status", types.Text, nullable=False),
        sa.Column("run_total", sa.BigInteger(), nullable=False),
        sa.Column("run_done", sa.BigInteger(), nullable=False),
        sa.Column("run_failed", sa.BigInteger(), nullable=False),
        sa.Column("run_error", types.Json(), nullable=True),
        sa.Column("run_started_at", types.Text, nullable=True),
        sa.Column("run_finished_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_knowledge_bases")),
    )
    op.create_table(
        "model_prices",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("input_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("output_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("cached_input_price_per_mtok", sa.Double(), nullable=True),
        sa.Column("cache_write_price_per_mtok", sa.Double(), nullable=True),
        sa.Column("speech_price_per_mchar", sa.Double(), nullable=True),
        sa.Column("transcription_price_per_minute", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_model_prices")),
        sa.UniqueConstraint("tenant_id", "model", name=op.f("uq_model_prices_tenant_id_model")),
    )
    op.create_table(
        "notification_outsider_mails",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("day", types.Text, nullable=False),
        sa.Column("mails", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_outsider_mails")),
        sa.UniqueConstraint("tenant_id", "day", name=op.f("uq_notification_outsider_mails_tenant_id_day")),
    )
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
        "outgoing_mails",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("content", types.SealedColumn(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_outgoing_mails")),
    )
    op.create_table(
        "role_permissions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("permissions", types.Json(), nullable=False),
        sa.Column("known", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_permissions")),
    )
    op.create_table(
        "schedules",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("last_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
    )
    op.create_table(
        "service_accounts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("permissions", types.Json(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.Column("allowed_ips", types.Json(), nullable=False),
        sa.Column("rate_limit_per_minute", sa.BigInteger(), nullable=True),
        sa.Column("monthly_token_budget", sa.BigInteger(), nullable=True),
        sa.Column("strict", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("tokens_used", sa.BigInteger(), nullable=False),
        sa.Column("tokens_month", types.Text, nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("last_used_ip", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_service_accounts")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_service_accounts_tenant_id_name")),
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
        "stream_followers",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_stream_followers")),
    )
    op.create_index(op.f("ix_stream_followers_expires_at"), "stream_followers", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_stream_followers_tenant_id_message_id"),
        "stream_followers",
        ["tenant_id", "message_id"],
        unique=False,
    )
    op.create_table(
        "table_imports",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("table_id", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("filename", types.Text, nullable=False),
        sa.Column("format", types.Text, nullable=False),
        sa.Column("mode", types.Text, nullable=False),
        sa.Column("match", types.Json(), nullable=False),
        sa.Column("mapping", types.Json(), nullable=True),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("rows_read", sa.BigInteger(), nullable=False),
        sa.Column("rows_created", sa.BigInteger(), nullable=False),
        sa.Column("rows_updated", sa.BigInteger(), nullable=False),
        sa.Column("rows_failed", sa.BigInteger(), nullable=False),
        sa.Column("errors", types.Json(), nullable=False),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("started_at", types.Text, nullable=True),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("unmapped_columns", types.Json(), server_default=sa.text("'[]'"), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_table_imports")),
    )
    op.create_index(
        op.f("ix_table_imports_status_updated_at"), "table_imports", ["status", "updated_at"], unique=False
    )
    op.create_index(
        op.f("ix_table_imports_tenant_id_table_id_created_at"),
        "table_imports",
        ["tenant_id", "table_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "table_rows",
        sa.Column("table_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.Column("t1", types.Text, nullable=True),
        sa.Column("t2", types.Text, nullable=True),
        sa.Column("t3", types.Text, nullable=True),
        sa.Column("t4", types.Text, nullable=True),
        sa.Column("t5", types.Text, nullable=True),
        sa.Column("t6", types.Text, nullable=True),
        sa.Column("n1", sa.Double(), nullable=True),
        sa.Column("n2", sa.Double(), nullable=True),
        sa.Column("n3", sa.Double(), nullable=True),
        sa.Column("n4", sa.Double(), nullable=True),
        sa.Column("n5", sa.Double(), nullable=True),
        sa.Column("n6", sa.Double(), nullable=True),
        sa.Column("u1", types.Text, nullable=True),
        sa.Column("u2", types.Text, nullable=True),
        sa.Column("u3", types.Text, nullable=True),
        sa.Column("u4", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("table_key", "id", name=op.f("pk_table_rows")),
    )
    op.create_index(
        "ix_table_rows_table_key_n1",
        "table_rows",
        ["table_key", "n1", "id"],
        unique=False,
        sqlite_where=sa.text("n1 IS NOT NULL"),
        postgresql_where=sa.text("n1 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_n2",
        "table_rows",
        ["table_key", "n2", "id"],
        unique=False,
        sqlite_where=sa.text("n2 IS NOT NULL"),
        postgresql_where=sa.text("n2 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_n3",
        "table_rows",
        ["table_key", "n3", "id"],
        unique=False,
        sqlite_where=sa.text("n3 IS NOT NULL"),
        postgresql_where=sa.text("n3 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_n4",
        "table_rows",
        ["table_key", "n4", "id"],
        unique=False,
        sqlite_where=sa.text("n4 IS NOT NULL"),
        postgresql_where=sa.text("n4 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_n5",
        "table_rows",
        ["table_key", "n5", "id"],
        unique=False,
        sqlite_where=sa.text("n5 IS NOT NULL"),
        postgresql_where=sa.text("n5 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_n6",
        "table_rows",
        ["table_key", "n6", "id"],
        unique=False,
        sqlite_where=sa.text("n6 IS NOT NULL"),
        postgresql_where=sa.text("n6 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t1",
        "table_rows",
        ["table_key", "t1", "id"],
        unique=False,
        sqlite_where=sa.text("t1 IS NOT NULL"),
        postgresql_where=sa.text("t1 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t2",
        "table_rows",
        ["table_key", "t2", "id"],
        unique=False,
        sqlite_where=sa.text("t2 IS NOT NULL"),
        postgresql_where=sa.text("t2 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t3",
        "table_rows",
        ["table_key", "t3", "id"],
        unique=False,
        sqlite_where=sa.text("t3 IS NOT NULL"),
        postgresql_where=sa.text("t3 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t4",
        "table_rows",
        ["table_key", "t4", "id"],
        unique=False,
        sqlite_where=sa.text("t4 IS NOT NULL"),
        postgresql_where=sa.text("t4 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t5",
        "table_rows",
        ["table_key", "t5", "id"],
        unique=False,
        sqlite_where=sa.text("t5 IS NOT NULL"),
        postgresql_where=sa.text("t5 IS NOT NULL"),
    )
    op.create_index(
        "ix_table_rows_table_key_t6",
        "table_rows",
        ["table_key", "t6", "id"],
        unique=False,
        sqlite_where=sa.text("t6 IS NOT NULL"),
        postgresql_where=sa.text("t6 IS NOT NULL"),
    )
    op.create_index(
        "uq_table_rows_table_key_u1",
        "table_rows",
        ["table_key", "u1"],
        unique=True,
        sqlite_where=sa.text("u1 IS NOT NULL"),
        postgresql_where=sa.text("u1 IS NOT NULL"),
    )
    op.create_index(
        "uq_table_rows_table_key_u2",
        "table_rows",
        ["table_key", "u2"],
        unique=True,
        sqlite_where=sa.text("u2 IS NOT NULL"),
        postgresql_where=sa.text("u2 IS NOT NULL"),
    )
    op.create_index(
        "uq_table_rows_table_key_u3",
        "table_rows",
        ["table_key", "u3"],
        unique=True,
        sqlite_where=sa.text("u3 IS NOT NULL"),
        postgresql_where=sa.text("u3 IS NOT NULL"),
    )
    op.create_index(
        "uq_table_rows_table_key_u4",
        "table_rows",
        ["table_key", "u4"],
        unique=True,
        sqlite_where=sa.text("u4 IS NOT NULL"),
        postgresql_where=sa.text("u4 IS NOT NULL"),
    )
    op.create_table(
        "tenant_file_names",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("section", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("record_id", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_tenant_file_names")),
        sa.UniqueConstraint(
            "tenant_id", "section", "name", name=op.f("uq_tenant_file_names_tenant_id_section_name")
        ),
        sa.UniqueConstraint(
            "tenant_id", "section", "record_id", name=op.f("uq_tenant_file_names_tenant_id_section_record_id")
        ),
    )
    op.create_table(
        "tenants",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("plan", types.Text, nullable=False),
        sa.Column("limits", types.Json(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("is_listened_to", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("trace_sample", sa.Double(), nullable=True),
        sa.Column("mail_to_outsiders", types.Json(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
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
    op.create_index(
        op.f("ix_trace_export_queue_exporter_id_id"),
        "trace_export_queue",
        ["exporter_id", "id"],
        unique=False,
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
        op.f("ix_trace_parts_tenant_id_agent_id_created_at"),
        "trace_parts",
        ["tenant_id", "agent_id", "created_at"],
        unique=False,
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
        op.f("ix_trace_parts_tenant_id_is_first_created_at"),
        "trace_parts",
        ["tenant_id", "is_first", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_trace_parts_tenant_id_trace_id_created_at"),
        "trace_parts",
        ["tenant_id", "trace_id", "created_at"],
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
    op.create_table(
        "usage_entries",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("hour", types.Text, nullable=False),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("embed_key_id", types.Text, nullable=False),
        sa.Column("tool_id", types.Text, nullable=False),
        sa.Column("channel", types.Text, nullable=False),
        sa.Column("provider_key_id", types.Text, nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.Column("chat_requests", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reasoning_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("tool_executions", sa.BigInteger(), nullable=False),
        sa.Column("workflow_executions", sa.BigInteger(), nullable=False),
        sa.Column("form_submissions", sa.BigInteger(), nullable=False),
        sa.Column("webhook_deliveries", sa.BigInteger(), nullable=False),
        sa.Column("notifications", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_usage_entries")),
    )
    op.create_index(
        "ix_usage_entries_is_new",
        "usage_entries",
        ["tenant_id", "id"],
        unique=False,
        sqlite_where=sa.text("is_new = 1"),
        postgresql_where=sa.text("is_new"),
    )
    op.create_index(
        op.f("ix_usage_entries_tenant_id_hour"), "usage_entries", ["tenant_id", "hour"], unique=False
    )
    op.create_table(
        "users",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("email", types.Text, nullable=False),
        sa.Column("password_hash", types.Text, nullable=False),
        sa.Column("first_name", types.Text, nullable=False),
        sa.Column("last_name", types.Text, nullable=False),
        sa.Column("role", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("email_verified", sa.Boolean(), nullable=False),
        sa.Column("mfa_enabled", sa.Boolean(), nullable=False),
        sa.Column("timezone", types.Text, nullable=False),
        sa.Column("language", types.Text, nullable=False),
        sa.Column("avatar_file_id", types.Text, nullable=True),
        sa.Column("last_login_at", types.Text, nullable=True),
        sa.Column("is_pending", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("is_vouched_for", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
        sa.UniqueConstraint("id", name=op.f("uq_users_id")),
    )
    op.create_index(
        "ix_users_is_pending",
        "users",
        ["tenant_id"],
        unique=False,
        sqlite_where=sa.text("is_pending = 1"),
        postgresql_where=sa.text("is_pending"),
    )
    op.create_index(op.f("ix_users_tenant_id_created_at"), "users", ["tenant_id", "created_at"], unique=False)
    op.create_index(op.f("ix_users_tenant_id_role"), "users", ["tenant_id", "role"], unique=False)
    op.create_table(
        "vault_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=False),
        sa.Column("root_fingerprint", types.Text, nullable=False),
        sa.Column("state", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vault_keys")),
        sa.UniqueConstraint("version", name=op.f("uq_vault_keys_version")),
    )
    op.create_table(
        "webhook_attempts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("delivery_id", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("started_at", types.Text, nullable=False),
        sa.Column("response_code", sa.BigInteger(), nullable=True),
        sa.Column("response_time_ms", sa.BigInteger(), nullable=True),
        sa.Column("response_body", types.Text, nullable=True),
        sa.Column("error", types.Text, nullable=True),
        sa.Column("error_message", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_attempts")),
        sa.UniqueConstraint(
            "delivery_id",
            "tenant_id",
            "number",
            name=op.f("uq_webhook_attempts_delivery_id_tenant_id_number"),
        ),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
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
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint(
            "tenant_id",
            "event_id",
            "webhook_id",
            name=op.f("uq_webhook_deliveries_tenant_id_event_id_webhook_id"),
        ),
    )
    op.create_index(
        op.f("ix_webhook_deliveries_created_at"), "webhook_deliveries", ["created_at"], unique=False
    )
    op.create_index(
        op.f("ix_webhook_deliveries_tenant_id_webhook_id_created_at_id"),
        "webhook_deliveries",
        ["tenant_id", "webhook_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_webhook_deliveries_tenant_id_webhook_id_status_created_at_id"),
        "webhook_deliveries",
        ["tenant_id", "webhook_id", "status", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "webhook_hours",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("delivered", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("time_ms", sa.BigInteger(), nullable=False),
        sa.Column("times", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_hours")),
    )
    op.create_table(
        "webhook_messages",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("body", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhook_messages")),
    )
    op.create_index(op.f("ix_webhook_messages_created_at"), "webhook_messages", ["created_at"], unique=False)
    op.create_table(
        "webhooks",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("url", types.Text, nullable=False),
        sa.Column("events", types.Json(), nullable=False),
        sa.Column("filters", types.Json(), nullable=False),
        sa.Column("description", types.Text, nullable=True),
        sa.Column("headers", types.Json(), nullable=False),
        sa.Column("header_values", types.SealedColumn(), nullable=True),
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
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_webhooks")),
    )
    op.create_index(
        op.f("ix_webhooks_tenant_id_created_at"), "webhooks", ["tenant_id", "created_at"], unique=False
    )
    op.create_table(
        "workflow_chains",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("run_count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_chains")),
    )
    op.create_index(op.f("ix_workflow_chains_updated_at"), "workflow_chains", ["updated_at"], unique=False)
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
    op.create_table(
        "access_requests",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("permission", types.Text, nullable=False),
        sa.Column("note", types.Text, nullable=False),
        sa.Column("asked_at", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_access_requests_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_access_requests")),
        sa.UniqueConstraint(
            "tenant_id", "user_id", "permission", name=op.f("uq_access_requests_tenant_id_user_id_permission")
        ),
    )
    op.create_table(
        "agents",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("primary_model", types.Text, nullable=False),
        sa.Column("fallback_models", types.Json(), nullable=False),
        sa.Column("system_prompt", types.Text, nullable=False),
        sa.Column("temperature", sa.Double(), nullable=True),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_ttl", types.Text, server_default=sa.text("'5m'"), nullable=False),
        sa.Column("timeouts", types.Json(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("output_schema", types.Json(), nullable=True),
        sa.Column("reasoning_effort", types.Text, nullable=True),
        sa.Column("tool_search", types.Text, server_default=sa.text("'auto'"), nullable=False),
        sa.Column("max_context_tokens", sa.BigInteger(), nullable=True),
        sa.Column("compaction_model", types.Text, nullable=True),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("web_search", types.Json(), nullable=False),
        sa.Column("log_settings", types.Json(), nullable=False),
        sa.Column("knowledge_base_id", types.Text, nullable=True),
        sa.Column("tool_count", sa.BigInteger(), nullable=False),
        sa.Column("sub_agent_count", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", types.Text, nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("published_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "knowledge_base_id"],
            ["knowledge_bases.tenant_id", "knowledge_bases.id"],
            name=op.f("fk_agents_tenant_id_knowledge_base_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_agents")),
    )
    op.create_index(
        op.f("ix_agents_tenant_id_knowledge_base_id"),
        "agents",
        ["tenant_id", "knowledge_base_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_agents_tenant_id_parent_id_created_at"),
        "agents",
        ["tenant_id", "parent_id", "created_at"],
        unique=False,
    )
    op.create_index(op.f("ix_agents_tenant_id_status"), "agents", ["tenant_id", "status"], unique=False)
    op.create_table(
        "approval_assignments",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("approval_id", types.Text, nullable=False),
        sa.Column("assignee", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "approval_id"],
            ["approvals.tenant_id", "approvals.id"],
            name=op.f("fk_approval_assignments_tenant_id_approval_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_approval_assignments")),
        sa.UniqueConstraint(
            "tenant_id",
            "approval_id",
            "assignee",
            name=op.f("uq_approval_assignments_tenant_id_approval_id_assignee"),
        ),
    )
    op.create_index(
        op.f("ix_approval_assignments_tenant_id_assignee_approval_id"),
        "approval_assignments",
        ["tenant_id", "assignee", "approval_id"],
        unique=False,
    )
    op.create_table(
        "approval_links",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("approval_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("token_hash", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "approval_id"],
            ["approvals.tenant_id", "approvals.id"],
            name=op.f("fk_approval_links_tenant_id_approval_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_approval_links")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_approval_links_token_hash")),
    )
    op.create_index(op.f("ix_approval_links_created_at"), "approval_links", ["created_at"], unique=False)
    op.create_index(
        op.f("ix_approval_links_tenant_id_approval_id_user_id"),
        "approval_links",
        ["tenant_id", "approval_id", "user_id"],
        unique=False,
    )
    op.create_table(
        "approval_responses",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("approval_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("decision", types.Text, nullable=False),
        sa.Column("comment", types.Text, nullable=True),
        sa.Column("data", types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "approval_id"],
            ["approvals.tenant_id", "approvals.id"],
            name=op.f("fk_approval_responses_tenant_id_approval_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_approval_responses")),
        sa.UniqueConstraint(
            "tenant_id",
            "approval_id",
            "user_id",
            name=op.f("uq_approval_responses_tenant_id_approval_id_user_id"),
        ),
    )
    op.create_table(
        "credential_access",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("credential_id", types.Text, nullable=False),
        sa.Column("integration_type", types.Text, nullable=False),
        sa.Column("integration_id", types.Text, nullable=False),
        sa.Column("permission", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.Column("granted_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "credential_id"],
            ["credentials.tenant_id", "credentials.id"],
            name=op.f("fk_credential_access_tenant_id_credential_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_credential_access")),
        sa.UniqueConstraint(
            "tenant_id",
            "credential_id",
            "integration_type",
            "integration_id",
            "permission",
            name=op.f(
                "uq_credential_access_tenant_id_credential_id_integration_type_integration_id_permission"
            ),
        ),
    )
    op.create_table(
        "documents",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("base_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("mime_type", types.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("chunk_count", sa.BigInteger(), nullable=False),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=True),
        sa.Column("building", sa.BigInteger(), nullable=True),
        sa.Column("chunks_total", sa.BigInteger(), nullable=False),
        sa.Column("chunks_done", sa.BigInteger(), nullable=False),
        sa.Column("indexed_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "base_id"],
            ["knowledge_bases.tenant_id", "knowledge_bases.id"],
            name=op.f("fk_documents_tenant_id_base_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_documents")),
    )
    op.create_index(
        "ix_documents_failed",
        "documents",
        ["tenant_id", "updated_at"],
        unique=False,
        sqlite_where=sa.text("status = 'failed'"),
        postgresql_where=sa.text("status = 'failed'"),
    )
    op.create_index(
        op.f("ix_documents_status_updated_at"), "documents", ["status", "updated_at"], unique=False
    )
    op.create_index(
        op.f("ix_documents_tenant_id_base_id_created_at"),
        "documents",
        ["tenant_id", "base_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "file_derivatives",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("derived_file_id", types.Text, nullable=False),
        sa.Column("kind", types.Text, nullable=False),
        sa.Column("mime_type", types.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=True),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        sa.Column("content_key", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "file_id"],
            ["files.tenant_id", "files.id"],
            name=op.f("fk_file_derivatives_tenant_id_file_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_file_derivatives")),
        sa.UniqueConstraint("tenant_id", "file_id", name=op.f("uq_file_derivatives_tenant_id_file_id")),
    )
    op.create_index(
        op.f("ix_file_derivatives_tenant_id_content_key"),
        "file_derivatives",
        ["tenant_id", "content_key"],
        unique=False,
    )
    op.create_index(
        op.f("ix_file_derivatives_tenant_id_derived_file_id"),
        "file_derivatives",
        ["tenant_id", "derived_file_id"],
        unique=False,
    )
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
    op.create_table(
        "mfa_challenges",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_mfa_challenges_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_mfa_challenges")),
    )
    op.create_index(op.f("ix_mfa_challenges_expires_at"), "mfa_challenges", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_mfa_challenges_tenant_id_user_id"), "mfa_challenges", ["tenant_id", "user_id"], unique=False
    )
    op.create_table(
        "mfa_devices",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("secret", types.SealedColumn(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("last_enable_step", sa.BigInteger(), nullable=False),
        sa.Column("last_login_step", sa.BigInteger(), nullable=False),
        sa.Column("last_disable_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step_up_step", sa.BigInteger(), nullable=False),
        sa.Column("trusted_from", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_mfa_devices_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_mfa_devices")),
    )
    op.create_index(
        op.f("ix_mfa_devices_tenant_id_user_id"), "mfa_devices", ["tenant_id", "user_id"], unique=False
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
        "one_time_tokens",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("purpose", types.Text, nullable=False),
        sa.Column("token_hash", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_one_time_tokens_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_one_time_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_one_time_tokens_token_hash")),
    )
    op.create_index(op.f("ix_one_time_tokens_expires_at"), "one_time_tokens", ["expires_at"], unique=False)
    op.create_index(
        op.f("ix_one_time_tokens_tenant_id_user_id"),
        "one_time_tokens",
        ["tenant_id", "user_id"],
        unique=False,
    )
    op.create_table(
        "provider_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("provider", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("api_key", types.SealedColumn(), nullable=True),
        sa.Column("credential_id", types.Text, nullable=True),
        sa.Column("key_prefix", types.Text, nullable=False),
        sa.Column("base_url", types.Text, nullable=True),
        sa.Column("key_destination", types.Text, nullable=False),
        sa.Column("models", types.Json(), nullable=True),
        sa.Column("found_models", types.Json(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_valid", sa.Boolean(), nullable=False),
        sa.Column("last_tested_at", types.Text, nullable=True),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("monthly_budget_usd", sa.Double(), nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "credential_id"],
            ["credentials.tenant_id", "credentials.id"],
            name=op.f("fk_provider_keys_tenant_id_credential_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_provider_keys")),
    )
    op.create_index(
        op.f("ix_provider_keys_tenant_id_credential_id"),
        "provider_keys",
        ["tenant_id", "credential_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_provider_keys_tenant_id_provider_priority"),
        "provider_keys",
        ["tenant_id", "provider", "priority"],
        unique=False,
    )
    op.create_index(
        "uq_provider_keys_is_default",
        "provider_keys",
        ["tenant_id", "provider"],
        unique=True,
        sqlite_where=sa.text("is_default = 1"),
        postgresql_where=sa.text("is_default"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("code_hash", types.Text, nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("trusted_from", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_recovery_codes_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_recovery_codes")),
        sa.UniqueConstraint(
            "tenant_id", "user_id", "code_hash", name=op.f("uq_recovery_codes_tenant_id_user_id_code_hash")
        ),
    )
    op.create_table(
        "service_account_secrets",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("account_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("secret_prefix", types.Text, nullable=False),
        sa.Column("secret_hash", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "account_id"],
            ["service_accounts.tenant_id", "service_accounts.id"],
            name=op.f("fk_service_account_secrets_tenant_id_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_service_account_secrets")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_service_account_secrets_secret_hash")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=False),
        sa.Column("last_used_at", types.Text, nullable=False),
        sa.Column("second_factor_at", types.Text, nullable=True),
        sa.Column("ip_address", types.Text, nullable=False),
        sa.Column("user_agent", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_sessions_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"], unique=False)
    op.create_index(op.f("ix_sessions_tenant_id_user_id"), "sessions", ["tenant_id", "user_id"], unique=False)
    op.create_table(
        "token_refusals",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("account_id", types.Text, nullable=False),
        sa.Column("error", types.Text, nullable=False),
        sa.Column("reason", types.Text, nullable=False),
        sa.Column("hour", types.Text, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("since", types.Text, nullable=False),
        sa.Column("ip_address", types.Text, nullable=False),
        sa.Column("user_agent", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "account_id"],
            ["service_accounts.tenant_id", "service_accounts.id"],
            name=op.f("fk_token_refusals_tenant_id_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_token_refusals")),
        sa.UniqueConstraint(
            "tenant_id", "account_id", "reason", name=op.f("uq_token_refusals_tenant_id_account_id_reason")
        ),
    )
    op.create_table(
        "tools",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("category", types.Text, nullable=False),
        sa.Column("tool_type", types.Text, nullable=False),
        sa.Column("config", types.Json(), nullable=False),
        sa.Column("auth_type", types.Text, nullable=False),
        sa.Column("auth_config", types.SealedColumn(), nullable=True),
        sa.Column("credential_id", types.Text, nullable=True),
        sa.Column("auth_destination", types.Text, nullable=False),
        sa.Column("input_schema", types.Json(), nullable=True),
        sa.Column("output_schema", types.Json(), nullable=True),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("usage_count", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("packages_status", types.Text, nullable=False),
        sa.Column("packages_error", types.Text, nullable=True),
        sa.Column("pinned_packages", types.Json(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("requires_approval", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("approval", types.Json(), nullable=True),
        sa.Column("held_listing", types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "credential_id"],
            ["credentials.tenant_id", "credentials.id"],
            name=op.f("fk_tools_tenant_id_credential_id"),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_tools")),
        sa.UniqueConstraint("tenant_id", "slug", name=op.f("uq_tools_tenant_id_slug")),
    )
    op.create_index(op.f("ix_tools_tenant_id_category"), "tools", ["tenant_id", "category"], unique=False)
    op.create_index(op.f("ix_tools_tenant_id_created_at"), "tools", ["tenant_id", "created_at"], unique=False)
    op.create_index(
        op.f("ix_tools_tenant_id_credential_id"), "tools", ["tenant_id", "credential_id"], unique=False
    )
    op.create_index(op.f("ix_tools_tenant_id_tool_type"), "tools", ["tenant_id", "tool_type"], unique=False)
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
        sa.Column("conversation_ids", types.Json(), nullable=True),
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
        sa.Column("trail", types.Json(), nullable=False),
        sa.Column("run_as", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("trace_parent", types.Text, server_default=sa.text("('')"), nullable=False),
        sa.Column("hops", sa.BigInteger(), nullable=False),
        sa.Column("depth", sa.BigInteger(), nullable=False),
        sa.Column("root_id", types.Text, nullable=True),
        sa.Column("lent", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("retry_of", types.Text, nullable=True),
        sa.Column("waiter", types.Json(), nullable=True),
        sa.Column("deadline_at", sa.Double(), nullable=True),
        sa.Column("started_at", types.Text, nullable=True),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("conversation_ids", types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "workflow_id"],
            ["workflows.tenant_id", "workflows.id"],
            name=op.f("fk_workflow_executions_tenant_id_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_workflow_executions")),
    )
    op.create_index(
        "ix_workflow_executions_descendants",
        "workflow_executions",
        ["tenant_id", "root_id", "started_at"],
        unique=False,
        sqlite_where=sa.text("root_id IS NOT NULL"),
        postgresql_where=sa.text("root_id IS NOT NULL"),
    )
    op.create_index(
        "ix_workflow_executions_failed",
        "workflow_executions",
        ["tenant_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("status = 'failed'"),
        postgresql_where=sa.text("status = 'failed'"),
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
    op.create_table(
        "agent_drafts",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("based_on", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", types.Json(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("updated_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_agent_drafts_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_agent_drafts")),
        sa.UniqueConstraint("tenant_id", "agent_id", name=op.f("uq_agent_drafts_tenant_id_agent_id")),
    )
    op.create_table(
        "agent_tools",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("tool_id", types.Text, nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("display_order", sa.BigInteger(), nullable=False),
        sa.Column("config_override", types.Json(), nullable=True),
        sa.Column("override_destination", types.Text, nullable=False),
        sa.Column("attached_by", types.Text, nullable=False),
        sa.Column("requires_approval", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("always_offered", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_agent_tools_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "tool_id"],
            ["tools.tenant_id", "tools.id"],
            name=op.f("fk_agent_tools_tenant_id_tool_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_agent_tools")),
        sa.UniqueConstraint(
            "tenant_id", "agent_id", "tool_id", name=op.f("uq_agent_tools_tenant_id_agent_id_tool_id")
        ),
    )
    op.create_index(
        op.f("ix_agent_tools_tenant_id_tool_id"), "agent_tools", ["tenant_id", "tool_id"], unique=False
    )
    op.create_table(
        "agent_versions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", types.Json(), nullable=False),
        sa.Column("summary", types.Text, nullable=False),
        sa.Column("is_published", sa.Boolean(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_agent_versions_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_agent_versions")),
        sa.UniqueConstraint(
            "tenant_id", "agent_id", "version", name=op.f("uq_agent_versions_tenant_id_agent_id_version")
        ),
    )
    op.create_table(
        "chat_jobs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("user_message_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("context", types.Json(), nullable=True),
        sa.Column("warnings", types.Json(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("output", types.Json(), nullable=True),
        sa.Column("reasoning_effort", types.Text, nullable=True),
        sa.Column("callback_url", types.Text, nullable=True),
        sa.Column("waiting", types.Json(), nullable=True),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("progress", types.Json(), nullable=True),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("started_at", types.Text, nullable=True),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_chat_jobs_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chat_jobs")),
    )
    op.create_index(op.f("ix_chat_jobs_completed_at"), "chat_jobs", ["completed_at"], unique=False)
    op.create_index(
        op.f("ix_chat_jobs_tenant_id_agent_id_created_at"),
        "chat_jobs",
        ["tenant_id", "agent_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "chat_logs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("channel", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("session_id", types.Text, nullable=True),
        sa.Column("embed_key_id", types.Text, nullable=True),
        sa.Column("user_message", types.Text, nullable=True),
        sa.Column("assistant_message", types.Text, nullable=True),
        sa.Column("tool_calls", types.Json(), nullable=False),
        sa.Column("tool_call_count", sa.BigInteger(), nullable=False),
        sa.Column("message_count", sa.BigInteger(), nullable=False),
        sa.Column("has_usage", sa.Boolean(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reasoning_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.Column("usage_by_model", types.Json(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("response_time_ms", sa.BigInteger(), nullable=False),
        sa.Column("first_token_ms", sa.BigInteger(), nullable=True),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_chat_logs_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chat_logs")),
    )
    op.create_index(
        op.f("ix_chat_logs_tenant_id_agent_id_created_at"),
        "chat_logs",
        ["tenant_id", "agent_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_chat_logs_tenant_id_conversation_id"),
        "chat_logs",
        ["tenant_id", "conversation_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_chat_logs_tenant_id_created_at_status_first_token_ms"),
        "chat_logs",
        ["tenant_id", "created_at", "status", "first_token_ms"],
        unique=False,
    )
    op.create_table(
        "chat_totals",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("day", types.Text, nullable=False),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("tool_calls", sa.BigInteger(), nullable=False),
        sa.Column("time_ms", sa.BigInteger(), nullable=False),
        sa.Column("cost_usd", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_chat_totals_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chat_totals")),
        sa.UniqueConstraint(
            "tenant_id", "agent_id", "day", name=op.f("uq_chat_totals_tenant_id_agent_id_day")
        ),
    )
    op.create_table(
        "conversations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("title", types.Text, nullable=False),
        sa.Column("channel", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("session_id", types.Text, nullable=True),
        sa.Column("embed_key_id", types.Text, nullable=True),
        sa.Column("visitor_id", types.Text, nullable=True),
        sa.Column("session_key", types.Text, nullable=True),
        sa.Column("message_count", sa.BigInteger(), nullable=False),
        sa.Column("last_message_at", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("summary_id", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_conversations_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversations")),
        sa.UniqueConstraint(
            "tenant_id",
            "agent_id",
            "session_key",
            name=op.f("uq_conversations_tenant_id_agent_id_session_key"),
        ),
    )
    op.create_index(
        op.f("ix_conversations_status_last_message_at"),
        "conversations",
        ["status", "last_message_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_conversations_tenant_id_agent_id_last_message_at"),
        "conversations",
        ["tenant_id", "agent_id", "last_message_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_conversations_tenant_id_last_message_at_title_id"),
        "conversations",
        ["tenant_id", "last_message_at", "title", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_conversations_tenant_id_user_id_last_message_at"),
        "conversations",
        ["tenant_id", "user_id", "last_message_at"],
        unique=False,
    )
    op.create_table(
        "embed_keys",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("key_prefix", types.Text, nullable=False),
        sa.Column("key_hash", types.Text, nullable=False),
        sa.Column("previous_hash", types.Text, nullable=True),
        sa.Column("previous_until", types.Text, nullable=True),
        sa.Column("identity_secret", types.SealedColumn(), nullable=False),
        sa.Column("allowed_domains", types.Json(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("expires_at", types.Text, nullable=True),
        sa.Column("rate_limit_per_minute", sa.BigInteger(), nullable=True),
        sa.Column("monthly_token_budget", sa.BigInteger(), nullable=True),
        sa.Column("tokens_used", sa.BigInteger(), nullable=False),
        sa.Column("tokens_month", types.Text, nullable=False),
        sa.Column("request_count", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("revoked_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.Column("allow_attachments", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_embed_keys_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_embed_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_embed_keys_key_hash")),
    )
    op.create_index(op.f("ix_embed_keys_previous_hash"), "embed_keys", ["previous_hash"], unique=False)
    op.create_index(
        op.f("ix_embed_keys_tenant_id_agent_id_created_at"),
        "embed_keys",
        ["tenant_id", "agent_id", "created_at"],
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
        sa.Column("conversation_ids", types.Json(), nullable=True),
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
    op.create_table(
        "refresh_tokens",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("session_id", types.Text, nullable=False),
        sa.Column("token_hash", types.Text, nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("spent_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_refresh_tokens_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_refresh_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_refresh_tokens_token_hash")),
    )
    op.create_index(op.f("ix_refresh_tokens_spent_at"), "refresh_tokens", ["spent_at"], unique=False)
    op.create_index(
        op.f("ix_refresh_tokens_tenant_id_session_id"),
        "refresh_tokens",
        ["tenant_id", "session_id"],
        unique=False,
    )
    op.create_table(
        "sub_agents",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("parent_id", types.Text, nullable=False),
        sa.Column("child_id", types.Text, nullable=False),
        sa.Column("relationship_type", types.Text, nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("delegation_prompt", types.Text, nullable=False),
        sa.Column("display_order", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "child_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_sub_agents_tenant_id_child_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "parent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_sub_agents_tenant_id_parent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_sub_agents")),
        sa.UniqueConstraint(
            "tenant_id", "parent_id", "child_id", name=op.f("uq_sub_agents_tenant_id_parent_id_child_id")
        ),
    )
    op.create_index(
        op.f("ix_sub_agents_tenant_id_child_id"), "sub_agents", ["tenant_id", "child_id"], unique=False
    )
    op.create_table(
        "tool_executions",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("tool_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=True),
        sa.Column("agent_name", types.Text, nullable=True),
        sa.Column("user_id", types.Text, nullable=True),
        sa.Column("source", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("input", types.Text, nullable=False),
        sa.Column("output", types.Text, nullable=True),
        sa.Column("error", types.Text, nullable=True),
        sa.Column("logs", types.Text, nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("execution_time_ms", sa.BigInteger(), nullable=False),
        sa.Column("executed_at", types.Text, nullable=False),
        sa.Column("correlation_id", types.Text, nullable=False),
        sa.Column("conversation_ids", types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "tool_id"],
            ["tools.tenant_id", "tools.id"],
            name=op.f("fk_tool_executions_tenant_id_tool_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_tool_executions")),
    )
    op.create_index(
        op.f("ix_tool_executions_tenant_id_tool_id_executed_at"),
        "tool_executions",
        ["tenant_id", "tool_id", "executed_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_tool_executions_tenant_id_tool_id_status_executed_at"),
        "tool_executions",
        ["tenant_id", "tool_id", "status", "executed_at"],
        unique=False,
    )
    op.create_table(
        "widget_designs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("title", types.Text, nullable=True),
        sa.Column("greeting", types.Text, nullable=True),
        sa.Column("placeholder", types.Text, nullable=True),
        sa.Column("accent", types.Text, nullable=True),
        sa.Column("on_accent", types.Text, nullable=True),
        sa.Column("scheme", types.Text, nullable=False),
        sa.Column("position", types.Text, nullable=False),
        sa.Column("suggestions", types.Json(), nullable=False),
        sa.Column("show_sources", sa.Boolean(), server_default=sa.text("(true)"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_widget_designs_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_widget_designs")),
        sa.UniqueConstraint("tenant_id", "agent_id", name=op.f("uq_widget_designs_tenant_id_agent_id")),
    )
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
    op.create_table(
        "conversation_files",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_conversation_files_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_files")),
        sa.UniqueConstraint(
            "tenant_id",
            "message_id",
            "file_id",
            name=op.f("uq_conversation_files_tenant_id_message_id_file_id"),
        ),
    )
    op.create_index(
        op.f("ix_conversation_files_tenant_id_conversation_id"),
        "conversation_files",
        ["tenant_id", "conversation_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_conversation_files_tenant_id_file_id"),
        "conversation_files",
        ["tenant_id", "file_id"],
        unique=False,
    )
    op.create_table(
        "conversation_summaries",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("key", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("up_to_position", sa.BigInteger(), nullable=False),
        sa.Column("results_up_to", sa.BigInteger(), nullable=False),
        sa.Column("attachments_up_to", sa.BigInteger(), nullable=False),
        sa.Column("made_at_position", sa.BigInteger(), nullable=False),
        sa.Column("text", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("usage", types.Json(), nullable=True),
        sa.Column("documents", types.Json(), nullable=True),
        sa.Column("report", types.Json(), nullable=True),
        sa.Column("lease_expires_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_conversation_summaries_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_summaries")),
        sa.UniqueConstraint("tenant_id", "key", name=op.f("uq_conversation_summaries_tenant_id_key")),
    )
    op.create_index(
        op.f("ix_conversation_summaries_tenant_id_conversation_id"),
        "conversation_summaries",
        ["tenant_id", "conversation_id"],
        unique=False,
    )
    op.create_table(
        "messages",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("role", types.Text, nullable=False),
        sa.Column("content", types.Text, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("reply_id", types.Text, nullable=True),
        sa.Column("is_stopped", sa.Boolean(), nullable=False),
        sa.Column("details", types.Json(), nullable=True),
        sa.Column("trail", types.Json(), nullable=True),
        sa.Column("rounds", types.Json(), nullable=True),
        sa.Column("rating", sa.BigInteger(), nullable=False),
        sa.Column("comment", types.Text, nullable=True),
        sa.Column("attachments", types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_messages_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_messages")),
        sa.UniqueConstraint(
            "tenant_id",
            "conversation_id",
            "position",
            name=op.f("uq_messages_tenant_id_conversation_id_position"),
        ),
    )
    op.create_index(
        "ix_messages_is_stopped",
        "messages",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("is_stopped = 1"),
        postgresql_where=sa.text("is_stopped"),
    )
    op.create_index(
        "ix_messages_rating_nonzero",
        "messages",
        ["tenant_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("rating <> 0"),
        postgresql_where=sa.text("rating <> 0"),
    )
    op.create_index(
        op.f("ix_messages_tenant_id_reply_id"), "messages", ["tenant_id", "reply_id"], unique=False
    )
    op.create_table(
        "paused_turns",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("user_message_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("job_id", types.Text, nullable=True),
        sa.Column("asker_kind", types.Text, nullable=False),
        sa.Column("asker_id", types.Text, nullable=False),
        sa.Column("channel", types.Text, nullable=False),
        sa.Column("context", types.Json(), nullable=True),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("temperature", sa.Double(), nullable=True),
        sa.Column("stop", types.Json(), nullable=False),
        sa.Column("state", types.Json(), nullable=False),
        sa.Column("decisions", types.Json(), nullable=False),
        sa.Column("is_decided", sa.Boolean(), nullable=False),
        sa.Column("pinned", types.Json(), nullable=True),
        sa.Column("output", types.Json(), nullable=True),
        sa.Column("reasoning_effort", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "conversation_id"],
            ["conversations.tenant_id", "conversations.id"],
            name=op.f("fk_paused_turns_tenant_id_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_paused_turns")),
        sa.UniqueConstraint("tenant_id", "message_id", name=op.f("uq_paused_turns_tenant_id_message_id")),
    )
    op.create_index(
        "ix_paused_turns_is_decided",
        "paused_turns",
        ["tenant_id", "id"],
        unique=False,
        sqlite_where=sa.text("is_decided = 1"),
        postgresql_where=sa.text("is_decided"),
    )
    op.create_index(
        op.f("ix_paused_turns_tenant_id_agent_id"), "paused_turns", ["tenant_id", "agent_id"], unique=False
    )
    op.create_index(
        op.f("ix_paused_turns_tenant_id_conversation_id"),
        "paused_turns",
        ["tenant_id", "conversation_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_paused_turns_tenant_id_job_id"), "paused_turns", ["tenant_id", "job_id"], unique=False
    )
    op.create_table(
        "visitor_files",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("key_id", types.Text, nullable=False),
        sa.Column("session_hash", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "file_id"],
            ["files.tenant_id", "files.id"],
            name=op.f("fk_visitor_files_tenant_id_file_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["embed_keys.tenant_id", "embed_keys.id"],
            name=op.f("fk_visitor_files_tenant_id_key_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_visitor_files")),
        sa.UniqueConstraint("tenant_id", "file_id", name=op.f("uq_visitor_files_tenant_id_file_id")),
    )
    op.create_index(
        op.f("ix_visitor_files_tenant_id_session_hash_created_at"),
        "visitor_files",
        ["tenant_id", "session_hash", "created_at"],
        unique=False,
    )
    op.create_table(
        "widget_installations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("key_id", types.Text, nullable=False),
        sa.Column("origin", types.Text, nullable=False),
        sa.Column("seen_at", types.Text, nullable=False),
        sa.Column("is_refused", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_id"],
            ["embed_keys.tenant_id", "embed_keys.id"],
            name=op.f("fk_widget_installations_tenant_id_key_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_widget_installations")),
        sa.UniqueConstraint(
            "tenant_id", "key_id", "origin", name=op.f("uq_widget_installations_tenant_id_key_id_origin")
        ),
    )
    op.create_index(
        op.f("ix_widget_installations_tenant_id_agent_id_seen_at"),
        "widget_installations",
        ["tenant_id", "agent_id", "seen_at"],
        unique=False,
    )
    op.create_table(
        "replayable_replies",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("key", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "message_id"],
            ["messages.tenant_id", "messages.id"],
            name=op.f("fk_replayable_replies_tenant_id_message_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_replayable_replies")),
    )
    op.create_index(
        op.f("ix_replayable_replies_tenant_id_key"), "replayable_replies", ["tenant_id", "key"], unique=False
    )
    op.create_index(
        op.f("ix_replayable_replies_tenant_id_message_id"),
        "replayable_replies",
        ["tenant_id", "message_id"],
        unique=False,
    )
    for name in ("chunk_words", "submission_words"):
        _create_word_index(name)


def _create_word_index(name: str) -> None:
    """Create what `kit.db.word_index` declares: the two databases have no words in common for it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE VIRTUAL TABLE {name} USING fts5"
            "(tenant_id UNINDEXED, words, detail = 'column', columnsize = 0, tokenize = 'ascii')"
        )
        return
    op.create_table(
        name,
        sa.Column("rowid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("rowid", name=op.f(f"pk_{name}")),
    )
    op.create_index(
        f"ix_{name}_words", name, ["words"], postgresql_using="gin", postgresql_with={"fastupdate": "off"}
    )
