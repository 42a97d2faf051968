"""Service accounts and their secrets."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        sa.Column("tokens_used", sa.BigInteger(), nullable=False),
        sa.Column("tokens_month", types.Text, nullable=False),
        sa.Column("last_used_at", types.Text, nullable=True),
        sa.Column("last_used_ip", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_service_accounts")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_service_accounts_tenant_id_name")),
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
