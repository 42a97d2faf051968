"""Embed keys."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
