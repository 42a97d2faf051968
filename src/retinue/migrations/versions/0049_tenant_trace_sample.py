"""The share of a tenant's traces to keep."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tenants", sa.Column("trace_sample", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("tenants") as changes:
        changes.drop_column("trace_sample")
