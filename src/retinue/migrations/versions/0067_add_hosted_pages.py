"""Add pages on which people chat with an agent, and the addresses that are reserved for them."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.create_table(
        "hosted_pages",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("audience", types.Text, nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("key_id", types.Text, nullable=True),
        sa.Column("page_key", types.Text, nullable=True),
        sa.Column("opened_count", sa.BigInteger(), nullable=False),
        sa.Column("opened_month", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_hosted_pages_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_hosted_pages")),
        sa.UniqueConstraint("slug", name=op.f("uq_hosted_pages_slug")),
        sa.UniqueConstraint("tenant_id", "agent_id", name=op.f("uq_hosted_pages_tenant_id_agent_id")),
    )
    op.create_table(
        "hosted_slugs",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_hosted_slugs_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_hosted_slugs")),
        sa.UniqueConstraint("slug", name=op.f("uq_hosted_slugs_slug")),
    )
    op.create_index(
        op.f("ix_hosted_slugs_tenant_id_agent_id"), "hosted_slugs", ["tenant_id", "agent_id"], unique=False
    )
    op.add_column("embed_keys", sa.Column("page_hash", types.Text, nullable=True))
    op.create_index(op.f("ix_embed_keys_page_hash"), "embed_keys", ["page_hash"], unique=False)
