"""Forms, their versions, submissions, uploads, saved progress and sums of days."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_forms()
    _create_form_versions()
    _create_form_submissions()
    _create_form_uploads()
    _create_form_progress()
    _create_form_days()


def _create_forms() -> None:
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


def _create_form_versions() -> None:
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


def _create_form_submissions() -> None:
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
        ["tenant_id", "form_id"],
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


def _create_form_uploads() -> None:
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
        op.f("ix_form_uploads_tenant_id_form_id_submission_id"),
        "form_uploads",
        ["tenant_id", "form_id", "submission_id"],
        unique=False,
    )


def _create_form_progress() -> None:
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


def _create_form_days() -> None:
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
