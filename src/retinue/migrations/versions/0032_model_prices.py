"""Prices of models, tokens by kind, models without a price under budgets, and replies that are sent again."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_TOKENS = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")


def upgrade() -> None:
    for table in ("chat_logs", "usage_entries"):
        for column in _TOKENS:
            op.add_column(table, sa.Column(column, sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("chat_logs", sa.Column("usage_by_model", types.Json(), nullable=False, server_default="[]"))
    op.add_column("chat_jobs", sa.Column("warnings", types.Json(), nullable=False, server_default="[]"))
    # Budgets that exist go on as before, so that no agent stops by an upgrade; new ones refuse.
    op.add_column("budgets", sa.Column("on_unpriced", types.Text, nullable=False, server_default="allow"))
    op.add_column(
        "budgets", sa.Column("announced_unpriced", types.Json(), nullable=False, server_default="{}")
    )
    _create_replayable_replies()
    _create_prices("model_prices", ["tenant_id", "model"], is_tenants=True)
    _create_prices("instance_model_prices", ["model"], is_tenants=False)


def _create_prices(table: str, key: list[str], *, is_tenants: bool) -> None:
    tenant = [sa.Column("tenant_id", types.Text, nullable=False)] if is_tenants else []
    primary_key = ["id", "tenant_id"] if is_tenants else ["id"]
    op.create_table(
        table,
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        *tenant,
        sa.Column("model", types.Text, nullable=False),
        sa.Column("input_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("output_price_per_mtok", sa.Double(), nullable=False),
        sa.Column("cached_input_price_per_mtok", sa.Double(), nullable=True),
        sa.Column("cache_write_price_per_mtok", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint(*primary_key, name=op.f(f"pk_{table}")),
        sa.UniqueConstraint(*key, name=op.f(f"uq_{table}_{'_'.join(key)}")),
    )


def _create_replayable_replies() -> None:
    table = "replayable_replies"
    op.create_table(
        table,
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("key", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "message_id"],
            ["messages.tenant_id", "messages.id"],
            name=op.f(f"fk_{table}_tenant_id_message_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f(f"pk_{table}")),
    )
    for column in ("key", "message_id"):
        op.create_index(op.f(f"ix_{table}_tenant_id_{column}"), table, ["tenant_id", column], unique=False)
