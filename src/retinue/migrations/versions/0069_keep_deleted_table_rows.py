"""Keep deleted rows of data tables for a while, and what dry runs of imports find."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None
# A worker of the version before stores the rows of an import that is only tried.
is_safe_beside_previous = False


def upgrade() -> None:
    op.create_table(
        "deleted_table_rows",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("table_id", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("deletion_id", types.Text, nullable=False),
        sa.Column("deleted_at", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", "table_id", name=op.f("pk_deleted_table_rows")),
    )
    op.create_index("ix_deleted_table_rows_deleted_at", "deleted_table_rows", ["deleted_at"], unique=False)
    op.create_index(
        "ix_deleted_table_rows_table_id_deletion_id",
        "deleted_table_rows",
        ["table_id", "deletion_id"],
        unique=False,
    )
    for name in ("problems", "problem_counts"):
        op.add_column(
            "table_imports",
            sa.Column(name, types.Json(), server_default=sa.text("'[]'"), nullable=False),
        )
    op.add_column(
        "table_imports",
        sa.Column("is_dry_run", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.add_column("table_imports", sa.Column("sample", types.Json(), nullable=True))
