"""A stamp that moves whenever a tenant changes what it has set up, so that the rest can be remembered."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "tenants",
        sa.Column("configuration", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    )
