"""Approvals, what waits for them in chat, and the tools whose calls need them."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0015"
down_revision = "0014"
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
    _create_approvals()
    _create_what_belongs_to_approvals()
    _create_paused_turns()
    for table in ("tools", "agent_tools"):
        op.add_column(
            table,
            sa.Column("requires_approval", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        )
    op.add_column("tools", sa.Column("approval", types.Json(), nullable=True))


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        *_record(
            sa.Column("title", types.Text, nullable=False),
            sa.Column("description", types.Text, nullable=False),
            sa.Column("status", types.Text, nullable=False),
            sa.Column("source_type", types.Text, nullable=False),
            sa.Column("source", types.Json(), nullable=False),
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
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_approvals")),
    )
    for columns in (
        ["tenant_id", "created_at"],
        ["tenant_id", "status", "created_at"],
        ["tenant_id", "waiting_key"],
        ["status", "expires_at"],
    ):
        op.create_index(op.f(f"ix_approvals_{'_'.join(columns)}"), "approvals", columns)


def _create_what_belongs_to_approvals() -> None:
    op.create_table(
        "approval_assignments",
        *_record(
            sa.Column("approval_id", types.Text, nullable=False),
            sa.Column("assignee", types.Text, nullable=False),
        ),
        *_keys("approval_assignments", "approval_id", "approvals"),
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
    )
    op.create_table(
        "approval_responses",
        *_record(
            sa.Column("approval_id", types.Text, nullable=False),
            sa.Column("user_id", types.Text, nullable=False),
            sa.Column("decision", types.Text, nullable=False),
            sa.Column("comment", types.Text, nullable=True),
            sa.Column("data", types.Json(), nullable=True),
        ),
        *_keys("approval_responses", "approval_id", "approvals"),
        sa.UniqueConstraint(
            "tenant_id",
            "approval_id",
            "user_id",
            name=op.f("uq_approval_responses_tenant_id_approval_id_user_id"),
        ),
    )
    op.create_table(
        "approval_links",
        *_record(
            sa.Column("approval_id", types.Text, nullable=False),
            sa.Column("user_id", types.Text, nullable=False),
            sa.Column("token_hash", types.Text, nullable=False),
        ),
        *_keys("approval_links", "approval_id", "approvals"),
        sa.UniqueConstraint("token_hash", name=op.f("uq_approval_links_token_hash")),
    )
    for columns in (["tenant_id", "approval_id", "user_id"], ["created_at"]):
        op.create_index(op.f(f"ix_approval_links_{'_'.join(columns)}"), "approval_links", columns)


def _create_paused_turns() -> None:
    op.create_table(
        "paused_turns",
        *_record(
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
        ),
        *_keys("paused_turns", "conversation_id", "conversations"),
        sa.UniqueConstraint("tenant_id", "message_id", name=op.f("uq_paused_turns_tenant_id_message_id")),
    )
    for column in ("agent_id", "conversation_id", "job_id"):
        op.create_index(op.f(f"ix_paused_turns_tenant_id_{column}"), "paused_turns", ["tenant_id", column])
    op.create_index(
        "ix_paused_turns_is_decided",
        "paused_turns",
        ["tenant_id", "id"],
        sqlite_where=sa.text("is_decided = 1"),
        postgresql_where=sa.text("is_decided"),
    )


def _keys(table: str, column: str, to: str) -> list[sa.Constraint]:
    """The key of a table, and its reference to what it belongs to."""
    return [
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["tenant_id", column],
            [f"{to}.tenant_id", f"{to}.id"],
            name=op.f(f"fk_{table}_tenant_id_{column}"),
            ondelete="CASCADE",
        ),
    ]
