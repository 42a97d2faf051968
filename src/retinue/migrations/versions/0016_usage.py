"""Usage counters and budgets."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_ABOUT = ("agent_id", "model", "user_id", "embed_key_id", "tool_id", "channel", "provider_key_id")
_COUNTED = (
    "requests",
    "chat_requests",
    "messages",
    "prompt_tokens",
    "completion_tokens",
    "tool_executions",
    "workflow_executions",
    "form_submissions",
    "webhook_deliveries",
    "notifications",
)


def _record(*columns: sa.Column[Any]) -> list[sa.Column[Any]]:
    return [
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        *columns,
    ]


def upgrade() -> None:
    op.create_table(
        "usage_entries",
        *_record(
            sa.Column("hour", types.Text, nullable=False),
            sa.Column("is_new", sa.Boolean(), nullable=False),
            *(sa.Column(name, types.Text, nullable=False) for name in _ABOUT),
            *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTED),
            sa.Column("cost_usd", sa.Double(), nullable=False),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_usage_entries")),
    )
    op.create_index(op.f("ix_usage_entries_tenant_id_hour"), "usage_entries", ["tenant_id", "hour"])
    op.create_index(
        "ix_usage_entries_is_new",
        "usage_entries",
        ["tenant_id", "id"],
        sqlite_where=sa.text("is_new = 1"),
        postgresql_where=sa.text("is_new"),
    )
    op.create_table(
        "budgets",
        *_record(
            sa.Column("scope_type", types.Text, nullable=False),
            sa.Column("scope_id", types.Text, nullable=False),
            sa.Column("limit_usd", sa.Double(), nullable=True),
            sa.Column("limit_tokens", sa.BigInteger(), nullable=True),
            sa.Column("period", types.Text, nullable=False),
            sa.Column("soft_percent", sa.BigInteger(), nullable=False),
            sa.Column("action", types.Text, nullable=False),
            sa.Column("announced_for", types.Text, nullable=False),
            sa.Column("created_by", types.Text, nullable=False),
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_budgets")),
    )
    op.create_index(op.f("ix_budgets_tenant_id_created_at"), "budgets", ["tenant_id", "created_at"])
