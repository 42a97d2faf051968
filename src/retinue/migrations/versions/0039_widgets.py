"""Widget designs, and the origins that have loaded a widget."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        "widget_installations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("agent_id", types.Text, nullable=False),
        sa.Column("key_id", types.Text, nullable=False),
        sa.Column("origin", types.Text, nullable=False),
        sa.Column("seen_at", types.Text, nullable=False),
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
