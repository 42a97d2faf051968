"""Add drafts of workflows and forms."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    for table, owner in (("form_drafts", "forms"), ("workflow_drafts", "workflows")):
        op.create_table(
            table,
            sa.Column("id", types.Text, nullable=False),
            sa.Column("created_at", types.Text, nullable=False),
            sa.Column("updated_at", types.Text, nullable=False),
            sa.Column("tenant_id", types.Text, nullable=False),
            sa.Column("owner_id", types.Text, nullable=False),
            sa.Column("based_on", types.Text, nullable=False),
            sa.Column("content", types.Json(), nullable=False),
            sa.Column("updated_by", types.Text, nullable=False),
            sa.ForeignKeyConstraint(
                ["tenant_id", "owner_id"],
                [f"{owner}.tenant_id", f"{owner}.id"],
                name=op.f(f"fk_{table}_tenant_id_owner_id"),
                ondelete="CASCADE",
            ),
            sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f(f"pk_{table}")),
            sa.UniqueConstraint("tenant_id", "owner_id", name=op.f(f"uq_{table}_tenant_id_owner_id")),
        )
