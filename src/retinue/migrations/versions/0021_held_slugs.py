"""Slugs that incoming webhooks have given up, which nobody else gets for a while."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.create_index(op.f("ix_incoming_held_slugs_created_at"), "incoming_held_slugs", ["created_at"])
