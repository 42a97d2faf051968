"""Leases of clients that wait for a reply which another process streams."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
